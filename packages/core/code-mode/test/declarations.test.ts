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
  info('2fa', {
    type: 'object',
    properties: { code: { $ref: '#/$defs/code%20' } },
    $defs: { 'code ': { type: 'string' } },
  }),
  info('a-b', { type: 'object', properties: { n: { $ref: '#/$defs/it' } }, $defs: { it: { type: 'number' } } }),
  info('a_b', { type: 'object', properties: { n: { $ref: '#/$defs/it' } }, $defs: { it: { type: 'string' } } }),
  info('pro', { type: 'object', properties: { x: { $ref: '#/$defs/mise' } }, $defs: { mise: { const: 'x' } } }),
  info('round', {
    type: 'object',
    properties: { a: { $ref: '#/$defs/a' }, self: { $ref: '#' } },
    $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }, { type: 'null' }] }, b: { $ref: '#/$defs/a' } },
  }),
  info('cyclic', {
    type: 'object',
    properties: { node: { $defs: {}, $ref: 'Node' } },
    $defs: { Node: { $id: 'Node', type: 'object', properties: { next: { $ref: 'Node' }, n: { type: 'number' } } } },
  }),
  info(
    'either',
    {
      type: 'object',
      properties: { a: { type: 'string', description: 'Ends */ here.\nAnd on.' }, b: { type: 'number' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    {
      output: {
        type: 'object',
        properties: { tree: { $ref: '#/$defs/t' } },
        required: ['tree'],
        $defs: { t: { type: 'array', items: { $ref: '#/$defs/t' } } },
      } as never,
    },
  ),
  info('both', {
    type: 'object',
    allOf: [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { type: 'object', properties: { b: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] } } },
    ],
  }),
  info('open', { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'number' } }),
  info('constructor', { type: 'object', properties: { __proto__x: { const: 1 } } }),
]

const bare = (name: string) => name.replaceAll('"', '')

describe('declarations', () => {
  test('what the schema says about a field is said beside it', () => {
    const declared = declarationsOf([info('either', tools.find(({ name }) => name === 'either')?.parameters ?? {})])
    expect(declared).toContain(
      '  either(args?: { /** Ends *\\/ here. And on. */ a?: string; b?: number }): Promise<Json>',
    )
  })

  // 4.1
  test('declarations compile whatever schemas hold, right calls compile against them and wrong ones do not', () => {
    const declared = declarationsOf(tools)
    const found = problems({
      'right.ts': `${declared}
        export async function main() {
          await tools.write({ path: 'a' }); await tools.delete(); const { n } = await tools.pick({ what: { id: 1 } })
          await tools['odd-name']({ 'x-y': null }); await tools.tree({ root: { children: [{ children: [] }] } })
          await tools['2fa']({ code: 'x' }); await tools['a-b']({ n: 1 }); await tools.a_b({ n: 'x' }); await tools.pro({ x: 'x' })
          await tools.round({ a: null, self: { self: {} } }); await tools.cyclic({ node: { next: { next: {}, n: 1 } } })
          const { tree } = await tools.either({ b: 1 }); tree[0]?.[0]?.push([])
          await tools.both({ a: 'x', b: ['x', 1] }); await tools.open({ a: 'x', c: 1 })
          const m: number = n; return m
        }`,
      'defs.ts': `${declared} void tools['a-b']({ n: 'x' })`,
      'two-defs.ts': `${declared} void tools.a_b({ n: 1 })`,
      'deep.ts': `${declared} void tools.cyclic({ node: { next: { n: 'x' } } })`,
      'either.ts': `${declared} void tools.either({ b: 'x' })`,
      'both.ts': `${declared} void tools.both({ b: ['x', 1] })`,
      'tuple.ts': `${declared} void tools.both({ a: 'x', b: [1, 1] })`,
      'output.ts': `${declared} export const f = async () => (await tools.pick()).n.length`,
      'type.ts': `${declared} void tools.write({ path: 1 })`,
      'enum.ts': `${declared} void tools.write({ path: 'a', mode: 'c' })`,
      'name.ts': `${declared} void tools.unknown({})`,
    })
    expect(found['right.ts']).toEqual([])
    const { 'right.ts': _right, ...wrong } = found
    expect(Object.keys(wrong)).toHaveLength(10)
    for (const problem of Object.values(wrong)) expect(problem).toHaveLength(1)
  })

  test('declarations are sorted and equal for equal tools in any order', () => {
    expect(declarationsOf(tools.toReversed())).toBe(declarationsOf(tools))
    const names = [...declarationsOf(tools).matchAll(/^ {2}("?[\w-]+"?)\(args/gm)].map((match) => match[1])
    expect(names).toEqual(
      tools
        .map(({ name }) => (/^[a-z_]+$/.test(name) ? name : `"${name}"`))
        .sort((a, b) => (bare(a) < bare(b) ? -1 : 1)),
    )
  })
})
