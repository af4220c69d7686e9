/** Owns turning messages into the prompt of an AI SDK model. */
import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3TextPart,
  LanguageModelV3ToolResultPart,
} from '@ai-sdk/provider'
import type {
  AssistantMessage,
  ContentPart,
  ImagePart,
  ModelRequest,
  ToolResultMessage,
  UserMessage,
} from '@sluice/llm'
import { imageFollows, imageOfResult, missingImage, noOutput } from './prompt.ts'
import { wireArguments, wireName } from './wire-arguments.ts'

export interface PromptOptions {
  /** Whether the model's past reasoning goes out again. */
  readonly reasoning: 'send' | 'drop'
}

type AssistantContent = Extract<LanguageModelV3Message, { role: 'assistant' }>['content']
type Visible = LanguageModelV3TextPart | LanguageModelV3FilePart
type Session = ModelRequest['session']

export async function wirePrompt(request: ModelRequest, options: PromptOptions): Promise<LanguageModelV3Prompt> {
  const prompt: LanguageModelV3Prompt = []
  if (request.system !== '') prompt.push({ role: 'system', content: request.system })
  let images: Visible[] = []
  for (const message of request.messages) {
    if (message.role !== 'tool' && images.length > 0) {
      prompt.push({ role: 'user', content: images })
      images = []
    }
    if (message.role === 'tool') {
      prompt.push({ role: 'tool', content: [resultPart(message)] })
      images.push(...(await imagesOf(message, request.session)))
    } else {
      const turned = message.role === 'user' ? await user(message, request.session) : assistant(message, options)
      if (turned) prompt.push(turned)
    }
  }
  if (images.length > 0) prompt.push({ role: 'user', content: images })
  return prompt
}

async function user(message: UserMessage, session: Session): Promise<LanguageModelV3Message | undefined> {
  const content = await Promise.all(message.content.map((part) => visible(part, session)))
  const said = content.filter((part) => part.type !== 'text' || part.text !== '')
  return said.length === 0 ? undefined : { role: 'user', content: said }
}

function assistant(message: AssistantMessage, options: PromptOptions): LanguageModelV3Message | undefined {
  const content = message.content.flatMap((part): AssistantContent => {
    if (part.type === 'tool-call') {
      const { id: toolCallId, name, argumentsText } = part
      return [{ type: 'tool-call', toolCallId, toolName: wireName(name), input: wireArguments(argumentsText) }]
    }
    if (part.text === '' || (part.type === 'reasoning' && options.reasoning === 'drop')) return []
    return [{ type: part.type, text: part.text }]
  })
  // An answer of nothing but reasoning is refused by strict endpoints.
  return content.some((part) => part.type !== 'reasoning') ? { role: 'assistant', content } : undefined
}

function resultPart(message: ToolResultMessage): LanguageModelV3ToolResultPart {
  let images = 0
  const texts = message.content.map((part) => (part.type === 'text' ? part.text : imageFollows(++images)))
  const value = texts.filter((text) => text !== '').join('\n') || noOutput
  return {
    type: 'tool-result',
    toolCallId: message.callId,
    toolName: wireName(message.tool),
    output: { type: message.isError ? 'error-text' : 'text', value },
  }
}

/** Results hold text only on this wire, so their images go out behind the last result of the batch. */
async function imagesOf(message: ToolResultMessage, session: Session): Promise<Visible[]> {
  const images = message.content.filter((part) => part.type === 'image')
  const pairs = await Promise.all(
    images.map(async (part, index): Promise<Visible[]> => {
      const text = imageOfResult(index + 1, message.tool, message.callId)
      return [{ type: 'text', text }, await imagePart(part, session)]
    }),
  )
  return pairs.flat()
}

async function visible(part: ContentPart, session: Session): Promise<Visible> {
  return part.type === 'text' ? { type: 'text', text: part.text } : imagePart(part, session)
}

async function imagePart(part: ImagePart, session: Session): Promise<Visible> {
  const data = await session?.getBlob(part.blob)
  if (data === undefined) return { type: 'text', text: missingImage(part.mediaType, part.blob) }
  return { type: 'file', mediaType: part.mediaType, data }
}
