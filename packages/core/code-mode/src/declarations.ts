/** Owns TypeScript declarations of tools: sorted, and equal for equal tools. */
import type { ToolInfo } from '@sluice/tools'
import { asArray, inComment, keyOf, TypeWriter } from './type-writer.ts'

const head = `type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
declare class ToolError extends Error {
  code: string
  tool: string
  reason: string
  executed: 'yes' | 'no' | 'unknown'
}
declare const console: { log(...values: unknown[]): void; warn(...values: unknown[]): void; error(...values: unknown[]): void }
declare function sleep(ms: number): Promise<void>
`

/** Names that a type cannot have: those above, and those that the declarations use. */
const taken = ['Json', 'ToolError', 'Error', 'Promise']

function comment(text: string, indent: string): string {
  const lines = inComment(text).split('\n')
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

/** Declarations of everything that a program can use. */
export function declarationsOf(tools: readonly ToolInfo[]): string {
  const used = new Set(taken)
  const named: [string, string][] = []
  const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const members = sorted.map((tool) => {
    const writer = new TypeWriter(tool.name, used)
    const args = writer.write(tool.parameters, 'Args')
    const optional = (asArray(tool.parameters['required']) ?? []).length === 0 ? '?' : ''
    const output = tool.output ? writer.write(tool.output, 'Output') : 'Json'
    named.push(...writer.named)
    return `${comment(tool.description, '  ')}  ${keyOf(tool.name)}(args${optional}: ${args}): Promise<${output}>\n`
  })
  const types = named.map(([name, type]) => `type ${name} = ${type}\n`).join('')
  return `${head}${types}declare const tools: {\n${members.join('')}}\n`
}
