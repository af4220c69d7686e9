/** Owns the text of a composition file: YAML in, checked entries out, every problem with its place. */
import { isSluiceError, type JsonObject, lossless, messageOf } from '@sluice/base'
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml'
import { composeErrors } from './errors.ts'
import type { Composition, CompositionEntry } from './types.ts'

const keys = ['id', 'name', 'config', 'disabled']

/** The loader of the framework runs the text below this key as code. */
const CODE_KEY = '__jsExpr'

class Reader {
  readonly file: string
  readonly lines = new LineCounter()
  readonly document: Document.Parsed

  constructor(file: string, text: string) {
    this.file = file
    this.document = parseDocument(text, { lineCounter: this.lines, prettyErrors: false })
  }

  lineOf(node: Node | null | undefined): number {
    return node?.range ? this.lines.linePos(node.range[0]).line : 1
  }

  refuse(node: Node | null | undefined, problem: string): never {
    throw composeErrors('COMPOSE_SHAPE', { file: this.file, line: this.lineOf(node), problem })
  }

  checkYaml(): void {
    const problem = this.document.errors[0] ?? this.document.warnings[0]
    if (problem === undefined) return
    const { line, col: column } = this.lines.linePos(problem.pos[0])
    throw composeErrors('COMPOSE_YAML', { file: this.file, line, column, problem: problem.message })
  }

  entry(node: unknown, index: number): CompositionEntry {
    const which = `entry ${index + 1}`
    if (!isMap(node)) this.refuse(node as Node, `${which} is not a mapping with a name`)
    this.checkKeys(node, which)
    const name = this.field(node, 'name', which)
    if (name === undefined) this.refuse(node, `${which} has no name`)
    return {
      id: this.field(node, 'id', which) ?? name,
      name,
      config: this.config(node, which),
      disabled: this.disabled(node, which),
      line: this.lineOf(node),
    }
  }

  checkKeys(node: YAMLMap, which: string): void {
    for (const pair of node.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : 'a key that is no word'
      if (keys.includes(key)) continue
      this.refuse(pair.key as Node, `${which} has the unknown key ${key}; an entry has ${keys.join(', ')}`)
    }
  }

  field(node: YAMLMap, key: string, which: string): string | undefined {
    const value = node.get(key)
    if (value === undefined) return undefined
    if (typeof value === 'string' && value.trim() !== '') return value
    return this.refuse(node.get(key, true) as Node, `${which} has a ${key} that is not a text`)
  }

  disabled(node: YAMLMap, which: string): boolean {
    const value = node.get('disabled')
    if (value === undefined || typeof value === 'boolean') return value === true
    return this.refuse(node.get('disabled', true) as Node, `${which}: disabled is true or false`)
  }

  config(node: YAMLMap, which: string): JsonObject | undefined {
    const value = node.get('config', true)
    if (value === undefined || (isScalar(value) && value.value === null)) return undefined
    if (!isMap(value)) this.refuse(value as Node, `${which}: config is a mapping of options`)
    try {
      const config = lossless(value.toJS(this.document)) as JsonObject
      if (!JSON.stringify(config).includes(`"${CODE_KEY}"`)) return config
    } catch (error) {
      if (isSluiceError(error, 'JSON_NOT_LOSSLESS')) this.refuse(value, `${which}: config${error.message.slice(1)}`)
      this.refuse(value, `${which}: config cannot be read: ${messageOf(error)}`)
    }
    return this.refuse(value, `${which}: config may not hold the key ${CODE_KEY}`)
  }
}

/** The entries of `text`, in order. `file` is what messages name.
 *  @throws COMPOSE_YAML, COMPOSE_SHAPE */
export function parseComposition(file: string, text: string): Composition {
  const reader: Reader = new Reader(file, text)
  reader.checkYaml()
  const top = reader.document.contents
  if (!isSeq(top)) reader.refuse(top, 'a composition is a list of entries, each starting with "- name:"')
  const entries = top.items.map((node, index) => reader.entry(node, index))
  const seen = new Map<string, number>()
  for (const [index, entry] of entries.entries()) {
    const line = seen.get(entry.id)
    if (line !== undefined) {
      const node = top.items[index] as Node
      reader.refuse(node, `entry ${index + 1} has the id ${entry.id} of line ${line}; give one of them another id`)
    }
    seen.set(entry.id, entry.line)
  }
  return { file, entries }
}
