/** Owns finding where a text stops being JSON, and why, in words that do not depend on the engine. */

export interface JsonProblem {
  /** Offset in UTF-16 units. */
  readonly position: number
  readonly problem: string
}

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const cutNumber = /^-?(?:0|[1-9]\d*)?(?:\.\d*)?(?:[eE][+-]?\d*)?$/
const word = /[\w.+-]+/y

type Wanted = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'more'

/** The first reason why `source` is not JSON; `undefined` when it is. */
export function jsonProblem(source: string): JsonProblem | undefined {
  const open: ('{' | '[')[] = []
  let wanted = 'value' as Wanted
  let at = 0
  const problem = (text: string): JsonProblem => ({ position: at, problem: text })

  for (;;) {
    while (at < source.length && ' \t\n\r'.includes(source[at] as string)) at++
    const char = source[at]
    if (wanted === 'more' && open.length === 0) return char === undefined ? undefined : problem('text after the value')
    if (char === undefined) return problem(at === 0 ? 'the text is empty' : 'the text ends too early')

    if (wanted === 'more') {
      const container = open.at(-1)
      if (char === ',') wanted = container === '{' ? 'key' : 'value'
      else if (char === (container === '{' ? '}' : ']')) open.pop()
      else return problem(container === '{' ? 'expected , or }' : 'expected , or ]')
      at++
    } else if (wanted === 'colon') {
      if (char !== ':') return problem('expected :')
      wanted = 'value'
      at++
    } else if ((wanted === 'key or }' && char === '}') || (wanted === 'value or ]' && char === ']')) {
      open.pop()
      wanted = 'more'
      at++
    } else if (char === '"') {
      const end = stringEnd(source, at)
      if (typeof end !== 'number') return end
      at = end
      wanted = wanted === 'key' || wanted === 'key or }' ? 'colon' : 'more'
    } else if (wanted === 'key' || wanted === 'key or }') {
      return problem('expected a key in double quotes')
    } else if (char === '{' || char === '[') {
      open.push(char)
      wanted = char === '{' ? 'key or }' : 'value or ]'
      at++
    } else {
      const end = endOf(scalar, source, at)
      // What follows directly belongs to the same broken word: 01, 1.x, nulls.
      if (end === at || endOf(word, source, end) !== end) return brokenWord(source, at)
      at = end
      wanted = 'more'
    }
  }
}

function endOf(pattern: RegExp, source: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(source) ? pattern.lastIndex : at
}

function brokenWord(source: string, position: number): JsonProblem {
  const end = endOf(word, source, position)
  if (end === source.length) {
    const text = source.slice(position)
    const isCut = ['true', 'false', 'null'].some((each) => each.startsWith(text)) || cutNumber.test(text)
    if (isCut) return { position: end, problem: 'the text ends too early' }
  }
  return { position, problem: 'expected a value' }
}

/** Offset after the closing quote, or what is wrong inside. */
function stringEnd(source: string, start: number): number | JsonProblem {
  for (let at = start + 1; at < source.length; at++) {
    const code = source.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (code < 0x20) return { position: at, problem: 'a control character in a string; escape it' }
    if (code !== 0x5c) continue
    const escape = source[at + 1]
    if (escape === undefined) break
    if (escape === 'u') {
      const digits = source.slice(at + 2, at + 6)
      if (!/^[0-9a-fA-F]*$/.test(digits)) return { position: at, problem: 'an unknown escape in a string' }
      if (digits.length < 4) break
      at += 5
    } else if ('"\\/bfnrt'.includes(escape)) at++
    else return { position: at, problem: 'an unknown escape in a string' }
  }
  return { position: source.length, problem: 'a string does not end' }
}
