/** Owns approval at a terminal: one question at a time, answered by a line of text. */
import type { Answer, Answerer, Question } from '@sluice/approval'
import { pluginText, printable, printableLine } from './printable.ts'
import type { Terminal } from './terminal.ts'

/** Lines of a card that stand above a question. */
const DETAIL_LINES_MAX = 60

/** Puts questions one after another; the end of input dismisses a question. */
export function terminalAnswerer(terminal: Terminal): Answerer {
  let before: Promise<unknown> = Promise.resolve()
  return (question) => {
    const answer = before.then(() => ask(terminal, question))
    before = answer.catch(() => undefined)
    return answer
  }
}

async function ask(terminal: Terminal, question: Question): Promise<Answer | undefined> {
  if (question.signal.aborted) return undefined
  const { callId } = question
  const offers = question.asks.flatMap((ask) => ask.offers ?? [])
  // Where no plugin asks there is nobody to name, and the question itself says why.
  const reasons = question.asks
    .filter(({ by }) => by !== 'otherwise')
    .map(({ by, reason, rule }) => `  ${printableLine(`${pluginText(by)}: ${reason}${rule ? ` [${rule}]` : ''}`, 200)}`)
  const keys = offers.length === 1 ? ['a'] : offers.map((_offer, index) => `${index + 1}`)
  // Whole and as it is: what is agreed to has to be seen.
  const choices = offers.map((offer, index) => `  ${keys[index]}  allow, and always allow ${printable(offer.text)}`)
  terminal.write(['', `? ${printable(question.text)}`, ...detailOf(question), ...reasons, ...choices, ''].join('\n'))
  const line = await terminal.readAnswer(
    `  allow? [${['y', 'n', ...keys].join('/')}, or say why not] `,
    question.signal,
  )
  if (line === undefined) return question.signal.aborted ? undefined : { callId, kind: 'cancel' }
  const said = line.trim()
  return answerOf(callId, said, offers[keys.indexOf(said.toLowerCase())])
}

/** Anything but a clear yes is a no, and its text is told to the model. */
function answerOf(callId: string, line: string, offer: { readonly id: string } | undefined): Answer {
  if (/^(y|yes)$/i.test(line)) return { callId, kind: 'allow-once' }
  if (offer) return { callId, kind: 'allow-once', offer: offer.id }
  return /^(n|no)?$/i.test(line) ? { callId, kind: 'reject' } : { callId, kind: 'reject', message: line }
}

function detailOf({ card }: Question): string[] {
  const text =
    card.kind === 'terminal'
      ? card.command
      : card.kind === 'diff'
        ? card.diff
        : card.kind === 'generic'
          ? (card.text ?? '')
          : ''
  if (text === '') return []
  const lines = printable(text).split('\n')
  const shown = lines.slice(0, DETAIL_LINES_MAX).map((line) => `  │ ${line}`)
  return lines.length > DETAIL_LINES_MAX ? [...shown, `  │ … ${lines.length - DETAIL_LINES_MAX} more lines`] : shown
}
