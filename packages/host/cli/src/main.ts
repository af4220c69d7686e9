#!/usr/bin/env node
/** Owns running the command in this process. */
import { runCli } from './cli.ts'
import { nodeTerminal } from './node-terminal.ts'

const terminal = nodeTerminal()
await terminal.end(await runCli(process.argv.slice(2), terminal))
