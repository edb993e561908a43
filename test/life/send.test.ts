import { afterEach, describe, expect, test, vi } from 'vitest'
import { AccountLimitError, ApiError, StoreUnavailableError } from '../../src/domain/errors.ts'
import { useTakenTurn } from '../../src/domain/lane.ts'
import { payloadHash, type Request, type RequestState } from '../../src/domain/request.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { send as sendRequest } from '../../src/life/send.ts'
import { wordsOfFindings } from '../../src/messages/why-not.ts'
import { createRepeatedLines } from '../../src/ops/log.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import type { StepName } from '../../src/record/steps.ts'
import type { StepData, Store } from '../../src/record/store.ts'
import { fakeApp, noPolicy, notFrozen } from '../fake-app.ts'
import { judging } from '../given/access.ts'
import { terms } from '../given/people.ts'
import { requestFor, ruleFor } from '../given/request.ts'
import { approvedBy, signatures, signaturesOfBot } from '../given/signatures.ts'
import { afterStep } from '../given/take-steps.ts'

afterEach(() => void vi.useRealTimers())

/** The execution of an approved move. Redis answers the step `send` after `claimTakesMs`. `unread` fails the reads, `refused` the write. */
function approvedMove(
  claimTakesMs: number,
  {
    now = 1_000_000,
    unread,
    refused,
    wasSent = false,
    isRuleStricterAtWrite = false,
    isOutdated,
    revision,
    turnMs = 0,
  }: {
    isRuleStricterAtWrite?: boolean
    isOutdated?: boolean
    turnMs?: number
    now?: number
    unread?: Error
    refused?: Error
    /** Whether the audit has it as sent. */
    wasSent?: boolean
    revision?: number
  } = {},
) {
  vi.useFakeTimers({ toFake: ['performance'] })
  const steps: { name: StepName; to: RequestState }[] = []
  const rules = [ruleFor()]
  let state: RequestState = 'approved'
  const reported: unknown[] = []
  const postponed: number[] = []
  const due: (number | undefined)[] = []
  const written: string[] = []
  /** Whether each write still had its turn. */
  const turns: boolean[] = []
  const distrusted: string[] = []
  const woken: number[] = []
  const waits: unknown[] = []
  const latest: number[] = []
  const logged: unknown[] = []
  const elasticIp = {
    id: 'eip_1GijF7NsZe3bN',
    address: '203.0.113.10',
    status: 'active',
    server: { id: 'sv_1WFgWmkF9Mzju', hostname: 'web-1' },
  }
  const server = { id: 'sv_22mUQSvUfeqdv', hostname: 'web-2' }
  const accountApi = {
    elasticIps: {
      get: async () => {
        if (unread) throw unread
        if (isRuleStricterAtWrite) rules[0] = ruleFor({ approve: terms(['S0ONCALL01'], { approvals: 2 }) })
        return { ...elasticIp, project: undefined, site: undefined }
      },
      move: async (id: string) => {
        written.push(id)
        turns.push((useTakenTurn()?.leftMs() ?? 0) > 0)
        if (refused) throw refused
      },
    },
    servers: { get: async () => server },
  }
  const store = {
    now: async () => now,
    find: async () => ({ ...approvedRequest(), revision }),
    take: async (_: Request, name: StepName, { set, dueInMs, notAfter }: StepData = {}) => {
      if (notAfter !== undefined) latest.push(notAfter)
      if (isOutdated && name === 'send') return { outcome: 'outdated', state }
      state = afterStep(state, name)
      steps.push({ name, to: state })
      due.push(dueInMs)
      if (set?.waits) waits.push(set.waits)
      const { why, next } = wordsOfFindings(undefined, set?.causes ?? [])
      reported.push(...[why, next].filter(Boolean))
      if (name === 'send') vi.advanceTimersByTime(claimTakesMs)
      return { outcome: 'won', state }
    },
    postpone: async () => {},
    usualDuration: async () => ({}),
    postponeIfUnchanged: async (_: Request, ms: number) => void postponed.push(ms),
  } as unknown as Store
  const app = fakeApp(judging({}), {
    ...notFrozen,
    store,
    audit: {
      note: async () => {},
      chained: async () => {},
      redis: { xrevrange: (async () => (wasSent ? [sentBefore] : [])) as never },
      keys: { audit: 'audit' },
      keyring: { verify: () => 'forged' },
    },
    catalog: createCatalog([moveChange({ account: accountApi } as never)]),
    budget: { perMinute: { read: 60, write: 20 }, waitForWrite: async () => turnMs, takeWrite: async () => turnMs },
    queues: { wake: async (_, ms = 0) => void woken.push(ms) },
    signatures,
    config: { policy: { ...noPolicy, rules }, opsChannel: undefined, slack: { command: '/infra' } },
    lines: createRepeatedLines({
      info: () => {},
      warn: ({ code, status }, text) => void logged.push([code, status, text]),
      error: ({ code }) => void distrusted.push(String(code)),
    }),
    metrics: { error: () => {}, notGenuine: () => {}, failing: () => 503 },
  })
  const send = (request: Request) => sendRequest(app, request)
  return { send, steps, written, turns, reported, postponed, due, distrusted, woken, waits, latest, logged }
}

function approvedRequest(by = signatures): Request {
  const facts = {
    elasticIpId: 'eip_1GijF7NsZe3bN',
    address: '203.0.113.10',
    from: { id: 'sv_1WFgWmkF9Mzju', name: 'web-1' },
    to: { id: 'sv_22mUQSvUfeqdv', name: 'web-2' },
  }
  const request = requestFor({ state: 'approved', facts, createdAt: 990_000, decidedAt: 999_000 })
  const approval = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'S0ONCALL01', at: 999_000 }
  return approvedBy(by, { ...request, hash: payloadHash(request) }, [approval])
}

const sentBefore = [
  '995000-0',
  ['entry', JSON.stringify({ version: 1, act: 'send', at: 995_000, seq: 1, prev: '', requestId: approvedRequest().id })],
]

describe('a write', () => {
  test('is sent after the step that claims it', async () => {
    const { send, steps, written, distrusted } = approvedMove(100)
    await send(approvedRequest())
    expect(written).toHaveLength(1)
    expect(steps.map(({ name }) => name)).toEqual(['send', 'accept'])
    expect(distrusted).toEqual([])
  })

  test('that the audit shows as sent ends the request, and the operators are notified', async () => {
    const request = approvedRequest()
    const { send, steps, written, distrusted } = approvedMove(100, { wasSent: true, revision: request.revision })
    await send(request)
    expect(written).toEqual([])
    expect(steps.map(({ name }) => name)).toEqual(['drop'])
    expect(distrusted).toEqual(['already-sent'])
  })

  test('that is no longer allowed after the preflight check is not sent', async () => {
    const request = approvedRequest()
    const { send, steps, written } = approvedMove(100, { isRuleStricterAtWrite: true, revision: request.revision })
    await send(request)
    expect(written).toEqual([])
    expect(steps.map(({ name }) => name)).toEqual(['drop'])
  })

  test('is claimed within 20 s of the preflight check, or the request is due again at once', async () => {
    const { send, steps, written, latest, postponed } = approvedMove(100, { isOutdated: true })
    await send(approvedRequest())
    expect({ steps, written, latest, postponed }).toEqual({ steps: [], written: [], latest: [1_020_000], postponed: [0] })
  })

  test('is dropped without a read once the approval is over and the time to approve has passed again', async () => {
    const unread = new Error('the account was read')
    const atLast = { now: 999_000 + approvedRequest().ttlMs + 1_800_000, unread }
    const { send, steps } = approvedMove(100, atLast)
    await send(approvedRequest())
    expect(steps).toEqual([{ name: 'drop', to: 'not-started' }])
    await expect(approvedMove(100, { ...atLast, now: atLast.now - 1 }).send(approvedRequest())).rejects.toThrow(unread)
  })

  test('that was signed with an unknown key waits for that key', async () => {
    const request = approvedRequest(
      signaturesOfBot({ STATE_KEY: 'another-key-for-tests-of-32-chars', INFRA_API_KEY: '', REDIS_PREFIX: 'lockkeeper' }),
    )
    const { send, steps, written, distrusted, postponed } = approvedMove(100, { revision: request.revision })
    await send(request)
    expect({ written, steps, distrusted, postponed }).toEqual({
      written: [],
      steps: [],
      distrusted: ['unknown-key'],
      postponed: [30_000],
    })
  })

  test('that another process has sent meanwhile is no reason to notify anybody', async () => {
    const request = approvedRequest()
    const { send, steps, written, distrusted } = approvedMove(100, { wasSent: true, revision: request.revision + 1 })
    await send(request)
    expect(written).toEqual([])
    expect(steps).toEqual([])
    expect(distrusted).toEqual([])
  })

  test('has a turn for 2 s after it asked for it. After that it waits for its next turn', async () => {
    const refused = new AccountLimitError({ operation: 'elasticIps.move', kind: 'write', waitMs: 0, perMinute: 20, answered: false })
    const [inTime, late] = [approvedMove(100), approvedMove(2_000, { refused })]
    for (const { send } of [inTime, late]) await send(approvedRequest())
    expect([inTime.turns, late.turns]).toEqual([[true], [false]])
    expect(late.steps).toEqual([
      { name: 'send', to: 'starting' },
      { name: 'limit', to: 'approved' },
    ])
    expect(late.woken).toEqual([20])
  })
})

describe('a write that is refused permanently', () => {
  test('is not sent if the preflight check is refused permanently, for example because the team lacks a feature', async () => {
    const unread = new ApiError({ operation: 'elasticIps.get', status: 403, codes: ['FEATURE_NOT_ENABLED'] })
    const { send, steps, written, reported, postponed } = approvedMove(0, { unread })
    await send(approvedRequest())
    expect([written, postponed]).toEqual([[], []])
    expect(steps).toEqual([{ name: 'drop', to: 'not-started' }])
    expect(reported.join(' ')).toBe(
      "Nothing was changed. Elastic IPs aren't enabled for this team (feature flag elastic_ips). Ask the provider's support to enable them.",
    )
  })
})

describe('an account that cannot be read before the write', () => {
  const rejected = new ApiError({ operation: 'elasticIps.get', status: 401, codes: [] })
  const limited = new ApiError({ operation: 'elasticIps.get', status: 429, codes: [] })

  test('is read again until 30 minutes after the approval', async () => {
    const { send, steps, postponed } = approvedMove(0, { now: 999_000 + 1_799_999, unread: rejected })
    await send(approvedRequest())
    expect(steps).toEqual([])
    expect(postponed).toEqual([10_000])
  })

  test('is noted once if the account API does not answer, so that the request message can say so', async () => {
    const first = approvedMove(0, { unread: limited })
    await first.send(approvedRequest())
    expect([first.steps, first.due, first.postponed]).toEqual([[{ name: 'wait-for-account', to: 'approved' }], [10_000], []])
    expect(first.logged).toEqual([['account-api-error', 503, 'The account API answered no preflight check']])

    const again = approvedMove(0, { unread: limited })
    await again.send({ ...approvedRequest(), waits: { for: 'account' } })
    expect([again.steps, again.postponed]).toEqual([[], [10_000]])
  })

  test('is no fault of the account if Redis could not count the read', async () => {
    const { send, steps, postponed } = approvedMove(0, { unread: new StoreUnavailableError('Redis: no answer') })
    await expect(send(approvedRequest())).rejects.toThrow(StoreUnavailableError)
    expect([steps, postponed]).toEqual([[], []])
  })

  test('ends the request after that time, with a rejected key as the reason', async () => {
    const unread = "Couldn't read the account for 30 minutes. Nothing was changed."
    const withKey = approvedMove(0, { now: 999_000 + 1_800_000, unread: rejected })
    await withKey.send(approvedRequest())
    expect(withKey.steps).toEqual([{ name: 'drop', to: 'not-started' }])
    expect(withKey.reported).toEqual([
      `${unread} The account API rejects Lockkeeper's API key (401). Lockkeeper's operators must set a valid INFRA_API_KEY.`,
    ])

    const busy = approvedMove(0, { now: 999_000 + 1_800_000, unread: limited })
    await busy.send(approvedRequest())
    expect(busy.reported).toEqual([unread])
  })
})

describe('the limit of the account', () => {
  const refused = new AccountLimitError({ operation: 'elasticIps.move', kind: 'write', waitMs: 40_000, perMinute: 20, answered: true })
  const unread = new AccountLimitError({ operation: 'elasticIps.get', kind: 'read', waitMs: 12_000, perMinute: 60, answered: false })

  test('the same wait is not shown twice', async () => {
    const { send, steps, postponed } = approvedMove(0, { turnMs: 39_000 })
    await send({ ...approvedRequest(), waits: { for: 'writes', ms: 40_000, until: 1_040_000, perMinute: 20 } })
    expect({ steps, postponed }).toEqual({ steps: [], postponed: [39_000] })
  })

  test('a check before the write that must not be sent yet waits, too', async () => {
    const { send, written, waits } = approvedMove(0, { unread })
    await send(approvedRequest())
    expect(written).toEqual([])
    expect(waits).toEqual([{ for: 'reads', ms: 12_000, until: 1_012_000, perMinute: 60 }])
  })

  test('a write that is refused because of it goes back to wait for its next turn', async () => {
    const { send, steps, written, due, waits } = approvedMove(0, { refused })
    await send(approvedRequest())
    expect(written).toHaveLength(1)
    expect(steps.map(({ name, to }) => `${name}: ${to}`)).toEqual(['send: starting', 'limit: approved'])
    expect(due.at(-1)).toBe(40_000)
    expect(waits.at(-1)).toEqual({ for: 'writes', ms: 40_000, until: 1_040_000, perMinute: 20 })
  })

  test('ends a request that has waited for 30 minutes', async () => {
    const { send, steps, reported } = approvedMove(0, { turnMs: 40_000, now: 999_000 + 1_800_000 })
    await send(approvedRequest())
    expect(steps).toEqual([{ name: 'drop', to: 'not-started' }])
    expect(reported).toEqual(["The account's limit was used up for 30 minutes. Nothing was changed."])
  })
})
