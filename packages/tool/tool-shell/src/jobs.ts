/** Owns background jobs: commands that go on after their call, for as long as their session is open. */
import { mintId, type World } from '@sluice/base'
import type { Appeared } from '@sluice/sandbox'
import type { Session } from '@sluice/session'
import type { BoundedOutput } from './bounded-output.ts'
import { type CommandOptions, startCommand } from './command.ts'
import { shellErrors } from './errors.ts'
import { boundedOutput, grantedBy, limitsShown, shownOutput } from './shown.ts'
import type { CommandEnd, Granted, JobReport } from './types.ts'

/** Running jobs of one session. */
export const JOBS_RUNNING_MAX = 8
/** Ended jobs of one session that can still be asked; the oldest are forgotten. */
export const JOBS_ENDED_MAX = 8

interface Job {
  readonly startedAt: number
  readonly stop: AbortController
  readonly limits: string | undefined
  /** Known when it has ended. */
  granted: Granted
  /** Rejects when it could not start. */
  readonly ended: Promise<unknown>
  end: CommandEnd | undefined
  /** What was printed since it was last asked. */
  output: BoundedOutput
}

/** The jobs of one session, by id; nobody else's are found there. */
interface OwnJobs {
  readonly jobs: Map<string, Job>
  readonly over: AbortController
  /** Forgets to end them with the session. */
  readonly release: () => void
}

export interface JobRequest {
  readonly session: Session
  readonly callId: string
  readonly command: Omit<CommandOptions, 'world' | 'onText' | 'signals'>
  /** What the sandbox holds it to. */
  readonly limits: string | undefined
  /** Tells what grants authority since, where it is confined. */
  readonly look: (() => Promise<Appeared>) | undefined
}

export class Jobs {
  private readonly world: World
  private readonly charsMax: number
  private readonly bySession = new Map<Session, OwnJobs>()

  constructor(world: World, charsMax: number) {
    this.world = world
    this.charsMax = charsMax
  }

  /** Resolves to the id of the job once its command runs.
   *  @throws SHELL_JOBS_TOO_MANY, SHELL_NOT_STARTED */
  async start({ session, callId, command, limits, look }: JobRequest): Promise<string> {
    const { jobs, over } = this.of(session)
    const running = [...jobs.values()].filter((job) => !job.end).length
    if (running >= JOBS_RUNNING_MAX) throw shellErrors('SHELL_JOBS_TOO_MANY', { max: JOBS_RUNNING_MAX })
    const { world } = this
    const id = mintId(world, 'job')
    const stop = new AbortController()
    const started = startCommand({
      ...command,
      world,
      signals: [over.signal, stop.signal],
      onText: (text) => job.output.add(text),
    })
    const ended = started
      .then((running) => running.ended)
      .then(async (end) => {
        await job.output.seal()
        job.granted = await grantedBy(look)
        job.end = end
        if (session.writable) session.append('shell/job-ended', { job: id, callId, command: command.command, ...end })
        forgetOldest(jobs)
      })
    const output = this.output(session, id)
    const job: Job = { startedAt: world.clock.monotonic(), stop, limits, ended, end: undefined, granted: {}, output }
    jobs.set(id, job)
    try {
      await started
    } catch (error) {
      await ended.catch(() => jobs.delete(id))
      throw error
    }
    return id
  }

  /** What the job printed since it was last asked, after waiting up to `waitMs` for its end.
   *  @throws SHELL_JOB_UNKNOWN */
  async report(session: Session, id: string, waitMs: number, signal: AbortSignal): Promise<JobReport> {
    const job = this.find(session, id)
    if (waitMs > 0 && !job.end) await this.wait(job, waitMs, signal)
    const { output, end, startedAt, limits, granted } = job
    job.output = this.output(session, id)
    const runningMs = end ? end.durationMs : this.world.clock.monotonic() - startedAt
    const shown = await shownOutput(output)
    return { job: id, runningMs, ...shown, ...(end && { end, ...limitsShown(limits, shown.output, end), ...granted }) }
  }

  /** Ends the job with all its processes. @throws SHELL_JOB_UNKNOWN */
  async kill(session: Session, id: string): Promise<void> {
    const job = this.find(session, id)
    job.stop.abort()
    await job.ended
  }

  /** Ends every job. */
  async dispose(): Promise<void> {
    await Promise.all([...this.bySession.keys()].map((session) => this.end(session)))
  }

  private async end(session: Session): Promise<void> {
    const own = this.of(session)
    own.release()
    own.over.abort()
    await Promise.allSettled([...own.jobs.values()].map((job) => job.ended))
    this.bySession.delete(session)
  }

  private of(session: Session): OwnJobs {
    const known = this.bySession.get(session)
    if (known) return known
    const release = session.onClosing(() => this.end(session))
    const own: OwnJobs = { jobs: new Map(), over: new AbortController(), release }
    this.bySession.set(session, own)
    return own
  }

  private output(session: Session, id: string): BoundedOutput {
    return boundedOutput(session, `bash ${id}`, this.charsMax)
  }

  private find(session: Session, id: string): Job {
    const jobs = this.bySession.get(session)?.jobs
    const job = jobs?.get(id)
    if (!job) throw shellErrors('SHELL_JOB_UNKNOWN', { job: id, known: [...(jobs?.keys() ?? [])] })
    return job
  }

  private wait(job: Job, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        cancel()
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const cancel = this.world.clock.timer(ms, finish)
      signal.addEventListener('abort', finish, { once: true })
      void job.ended.then(finish)
    })
  }
}

function forgetOldest(jobs: Map<string, Job>): void {
  const ended = [...jobs].filter(([, job]) => job.end)
  for (const [id] of ended.slice(0, Math.max(0, ended.length - JOBS_ENDED_MAX))) jobs.delete(id)
}
