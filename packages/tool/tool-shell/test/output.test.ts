import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Bench, makeBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await makeBench()
})
afterEach(() => bench.close())

// BUG-062
test.each([
  ['one line', "head -c 100000000 /dev/zero | tr '\\0' x"],
  ['many lines', 'yes | head -c 100000000'],
])('a flood of %s is bounded while it comes, says how much fell out, and later calls work', async (_, command) => {
  global.gc?.()
  const before = process.memoryUsage().heapUsed
  const { text, value, settled } = await bench.bash(`echo first; ${command}; echo; echo last; exit 3`)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50 * 1024 * 1024)
  expect(value.exitCode).toBe(3)
  expect(text.length).toBeLessThan(25_000)
  expect(JSON.stringify(settled.data).length).toBeLessThan(100_000)
  expect(text).toMatch(
    /^first\n[\s\S]+\n\[… \d+ characters omitted; its first 67108864 bytes are kept as blob \w{12} …\]\n[\s\S]+\nlast\n\[exit code 3\]$/,
  )
  expect(value.omitted).toBeGreaterThan(99_000_000)
  expect((await bench.bash('echo still here')).text).toBe('still here')
})

test('what was left out is kept as a blob of the session, from its beginning', async () => {
  const { text, value } = await bench.bash("echo first; seq 20000; printf '\\033[31mred\\033[0m\\n'")
  const whole = `first\n${Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join('')}red\n`
  const bytes = await bench.session.getBlob(value.blob ?? { digest: '', size: 0 })
  expect(Buffer.from(bytes ?? []).toString()).toBe(whole)
  expect(value.blob?.size).toBe(whole.length)
  expect(text).toContain(`the whole output is kept as blob ${value.blob?.digest.slice(0, 12)} …]`)
})

test('output that cannot be kept costs nothing of what is shown', async () => {
  bench.session.putBlob = () => Promise.reject(new Error('no space left'))
  const { text, value } = await bench.bash('seq 20000; exit 3')
  expect(value.blob).toBeUndefined()
  expect(text).toMatch(
    /^1\n2\n[\s\S]+omitted; they could not be kept: no space left …\]\n[\s\S]+\n20000\n\[exit code 3\]$/,
  )
})

// BUG-063
test('characters written byte by byte arrive whole on both streams', async () => {
  const piece = (bytes: string, to: number) => `printf '${bytes}' >&${to}; sleep 0.02`
  const bytes = ['\\xe2', '\\x89', '\\xa4']
  const { text } = await bench.bash(bytes.flatMap((byte) => [piece(byte, 1), piece(byte, 2)]).join('; '))
  expect(text).toBe('≤≤')
  const many = await bench.bash("for i in $(seq 50000); do printf '你'; done | cat; printf '\\xe2'")
  expect(many.value.output.replace(/\n\[… .* …\]\n/, '')).toMatch(/^你+\ufffd$/)
  expect((await bench.bash("printf '\\xff\\x41'")).text).toBe('\ufffdA')
})

test('colours, cursor moves and overwritten progress lines are taken out', async () => {
  const { text } = await bench.bash(
    "printf '\\033[31mred\\033[0m \\033]0;title\\007bell\\a\\r\\n10%%\\r50%%\\r100%%\\n\\033]8;;http://x\\033\\\\link\\033]8;;\\033\\\\\\n'",
  )
  expect(text).toBe('red bell\n100%\nlink')
})
