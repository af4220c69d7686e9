/** Owns turning the bytes of one stream into plain text, whatever its pieces cut apart. */
import { PlainText } from './plain-text.ts'

export interface TextStream {
  push(bytes: Uint8Array): void
  /** What was held back for more to come. */
  flush(): void
}

/** One for each stream: characters and escape sequences may be cut anywhere, whatever other streams do. */
export function textStream(onText: (text: string) => void): TextStream {
  const decoder = new TextDecoder()
  const plain = new PlainText()
  return {
    push: (bytes) => onText(plain.push(decoder.decode(bytes, { stream: true }))),
    flush: () => onText(plain.push(decoder.decode()) + plain.flush()),
  }
}
