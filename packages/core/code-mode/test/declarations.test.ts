import { declarationsOf } from '@sluice/code-mode'
import type { ToolInfo } from '@sluice/tools'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

function info(name: string, parameters: object, more: Partial<ToolInfo> = {}): ToolInfo {
  return {
    name,
    description: `The tool ${name}.`,
    parameters: parameters as never,
    output: undefined,
    annotations: {},
    aliases: [],
    overlap: 'parallel',
    timeoutMs: undefined,
    plugin: 'p#1',
    ...more,
  }
}

/** Problems that the compiler finds in each module, as sentences. One program: its library is read once. */
function problems(modules: Readonly<Record<string, string>>): Record<string, string[]> {
  const options: ts.CompilerOptions = {
    strict: true,
    target: ts.ScriptTarget.ES2022,
    types: [],
    lib: ['lib.es2022.d.ts'],
  }
  const host = ts.createCompilerHost(options)
  const readFile = host.getSourceFile.bind(host)
  host.getSourceFile = (name, ...rest) => {
    const text = modules[name]
    if (text === undefined) return readFile(name, ...rest)
    return ts.createSourceFile(name, `${text}\nexport {}\n`, ts.ScriptTarget.ES2022)
  }
  const program = ts.createProgram(Object.keys(modules), options, host)
  const found = (name: string) => {
    const file = program.getSourceFile(name)
    const all = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
    return all.map((problem) => ts.flattenDiagnosticMessageText(problem.messageText, '\n'))
  }
  return Object.fromEntries(Object.keys(modules).map((name) => [name, found(name)]))
}

const tools = [
  info('write', {
    type: 'object',
    properties: { path: { type: 'string' }, mode: { enum: ['a', 'b', 3, null] } },
    required: ['path'],
    additionalProperties: false,
  }),
  info('delete', { type: 'object' }, { description: 'Ends here: */ and\ngoes on.' }),
  info('odd-name', { type: 'object', properties: { 'x-y': { type: ['integer', 'null'] } } }),
  info('tree', {
    type: 'object',
    properties: { root: { $ref: '#/$defs/node' } },
    $defs: { node: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } } } },
  }),
  info(
    'pick',
    {
      type: 'object',
      properties: {
        what: {
          anyOf: [{ type: 'string' }, { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] }],
        },
      },
    },
    { output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as never },
  ),
  info('gone', { type: 'object', properties: { a: { $ref: 'https://elsewhere/x' }, b: { $ref: '#/$defs/none' } } }),
  info('constructor', { type: 'object', properties: { __proto__x: { const: 1 } } }),
]

describe('declarations', () => {
  test('declarations compile whatever schemas hold, right calls compile against them and wrong ones do not', () => {
    const declared = declarationsOf(tools)
    const found = problems({
      'right.ts': `${declared}
        export async function main() {
          await tools.write({ path: 'a' }); await tools.delete(); const { n } = await tools.pick({ what: { id: 1 } })
          await tools['odd-name']({ 'x-y': null }); await tools.tree({ root: { children: [{ children: [] }] } })
          const m: number = n; return m
        }`,
      'type.ts': `${declared} void tools.write({ path: 1 })`,
      'enum.ts': `${declared} void tools.write({ path: 'a', mode: 'c' })`,
      'name.ts': `${declared} void tools.unknown({})`,
    })
    expect(found['right.ts']).toEqual([])
    for (const wrong of ['type.ts', 'enum.ts', 'name.ts']) expect(found[wrong]).toHaveLength(1)
  })

  test('declarations are sorted and equal for equal tools in any order', () => {
    expect(declarationsOf(tools.toReversed())).toBe(declarationsOf(tools))
    const names = [...declarationsOf(tools).matchAll(/^ {2}("?[\w-]+"?)\(args/gm)].map((match) => match[1])
    expect(names).toEqual(['constructor', 'delete', 'gone', '"odd-name"', 'pick', 'tree', 'write'])
  })
})
