import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { expect, vi } from 'vitest'
import type { App } from '../../src/app.ts'
import type { Deadline } from '../../src/domain/deadline.ts'
import { senders } from '../../src/features/index.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { createRepeatedLines } from '../../src/ops/log.ts'
import { sweepOutbox } from '../../src/outbox/outbox.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import { createStore } from '../../src/record/store.ts'
import type { Keys } from '../../src/redis/key-names.ts'
import type { Messenger, Posted, SearchResult } from '../../src/slack/web-api.ts'
import { fakeApp, noPolicy, notFrozen } from '../fake-app.ts'
import { trusting } from './audit.ts'
import { noAudit } from './redis.ts'
import { ruleFor } from './request.ts'
import { wording } from './slack.ts'

export const sent: Posted = { is: 'sent', ts: '2.1', channelId: 'C0OPS00001' }
export const lost: Posted = { is: 'unknown', problem: 'HTTP status 503' }

/** As the messenger does where the bytes leave. */
const unsent = { is: 'unsent', problem: 'no answer' } as const
const isPast = (until: Deadline | undefined) => until !== undefined && until.leftMs() <= 0

/** What Slack answers. Each list is answered in turn, and its last one again and again. */
export interface SlackAnswers {
  posts?: Posted[]
  /** To posts to a person. */
  directPosts?: Posted[]
  updates?: Awaited<ReturnType<Messenger['update']>>[]
  searches?: SearchResult[]
  removals?: Awaited<ReturnType<Messenger['remove']>>[]
}

interface Options extends SlackAnswers {
  /** Null: there is no channel of the operators. */
  opsChannel?: string | null
  verifyRecord?: App['signatures']['verifyRecord']
  /** Called before each search. */
  beforeSearch?: () => Promise<void> | void
  names?: App['directory']['names']
  /** Receives the lines of the log in place of `log`. */
  write?: (level: string) => (fields: object, text: string) => void
}

/** A process that sends messages over a real Redis to a Slack that answers as told. Returns what it sent, searched for, logged and counted. */
export function outboxApp({ redis, keys }: { redis: Redis; keys: Keys }, options: Options = {}) {
  const {
    posts = [sent],
    directPosts = [sent],
    updates = [{ is: 'sent' }],
    searches = [{ is: 'absent' }],
    removals = [{ is: 'sent' }],
  } = options
  const calls: string[] = []
  const texts: string[] = []
  const found: object[] = []
  const log: string[] = []
  const fields: object[] = []
  const errors: string[] = []
  const reported: number[] = []
  const next = <T>(answers: T[]) => (answers.length > 1 ? answers.shift() : answers[0]) as T
  const {
    write = (level: string) => (of: object, text: string) => {
      fields.push(of)
      log.push(`${level}: ${text}`)
    },
  } = options
  const written = { info: write('info'), warn: write('warn'), error: write('error') }
  const app = fakeApp({
    config: {
      opsChannel: options.opsChannel === null ? undefined : (options.opsChannel ?? 'C0NIGHT001'),
      slack: { command: '/infra' },
      ...wording,
      policy: { ...noPolicy, alerts: [], bundles: undefined, rules: [ruleFor()] },
    },
    ...notFrozen,
    senders,
    redis,
    keys,
    connections: { prompt: redis },
    store: createStore({ redis, keys, audit: noAudit, signatures: trusting }),
    slack: {
      messenger: {
        async post({ channelId, threadTs }, { text }, until) {
          if (isPast(until)) return unsent
          calls.push(`post to ${channelId}${threadTs ? ' below the card' : ''}`)
          texts.push(text)
          return next(channelId.startsWith('U') ? directPosts : posts)
        },
        async update(_, __, until) {
          if (isPast(until)) return unsent
          calls.push('update')
          return next(updates)
        },
        async remove({ channelId, ts }) {
          calls.push(`remove ${ts} from ${channelId}`)
          return next(removals)
        },
        async find(where) {
          found.push(where)
          await options.beforeSearch?.()
          return next(searches)
        },
      },
      identity: { addressOf: () => undefined, profileOf: () => undefined, linkTo: () => undefined },
    },
    directory: { names: options.names ?? (async () => new Map()) },
    catalog: createCatalog([moveChange({} as Parameters<typeof moveChange>[0])]),
    signatures: { verifyBreakGlass: () => 'genuine', verifyRecord: options.verifyRecord ?? (() => 'genuine') },
    log: written,
    lines: createRepeatedLines(written),
    errors: { of: (place) => (error) => void errors.push(`${place}: ${error instanceof Error ? error.message : error}`) },
    metrics: {
      error: (place) => void errors.push(place),
      notGenuine: () => {},
      requestsLost: () => {},
      reported: (_, sinceEndMs) => void reported.push(sinceEndMs),
    },
  })

  /** Resolves when no notice is on its way. One that failed waits for the next sweep. */
  async function settle(): Promise<void> {
    await sleep(5)
    await vi.waitFor(async () => {
      for (const member of await redis.zrange(keys.outbox, '0', '-1'))
        expect((await redis.hget(keys.message(member.replace('/notice', '')), 'outbox:notice')) ?? '').not.toContain('"sending"')
    })
  }

  return { app, calls, texts, found, log, fields, errors, reported, settle, sweep: () => sweepAll(app) }
}

/** Sends what is owed, however long it was to wait. */
export async function sweepAll(app: App, dueAt = Number.POSITIVE_INFINITY): Promise<void> {
  const { redis, keys } = app
  for (const member of await redis.zrangebyscore(keys.outbox, '-inf', dueAt === Number.POSITIVE_INFINITY ? '+inf' : dueAt))
    await redis.zadd(keys.outbox, 1, member)
  await sweepOutbox(app, () => {})
}
