/** Owns what the command sees of its terminal; the real one is made in `main.ts` only. */

export interface Terminal {
  /** A person sits at both ends. */
  readonly interactive: boolean
  /** The folder that the command was called in. */
  readonly cwd: string
  /** To standard output. */
  write(text: string): void
  /** To standard error. */
  writeError(text: string): void
  /** The next line of input without its end; `undefined` at the end of input and when `signal` fires. */
  readLine(prompt: string, signal?: AbortSignal): Promise<string | undefined>
  /** Like {@link readLine}, but never a line that was typed before the prompt: nobody agrees to what they have not seen. */
  readAnswer(prompt: string, signal?: AbortSignal): Promise<string | undefined>
  /** Called at each Ctrl-C. The disposer ends it. */
  onInterrupt(listener: () => void): () => void
  /** Ends the process when everything written is out. */
  end(code: number): Promise<never>
}
