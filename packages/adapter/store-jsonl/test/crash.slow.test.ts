import { test } from 'vitest'
import { dieTwice } from './crash-work.ts'

test('the machine may die again at every moment of the recovery of a session with two lives', () => dieTwice(2))
