import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ApiKey } from '../../../src/account/objects.ts'
import { parseKeyName, writeKeyName } from '../../../src/domain/account.ts'
import type { Change } from '../../../src/domain/change.ts'
import { AccountLimitError, ApiError, ApiUnreachableError, StoreUnavailableError } from '../../../src/domain/errors.ts'
import { wholeMinute } from '../../../src/domain/key-ends.ts'
import { currentSpender, inLane } from '../../../src/domain/lane.ts'
import type { List } from '../../../src/domain/list.ts'
import { createRequestSignatures } from '../../../src/domain/request-signature.ts'
import { createKeyring, Secret } from '../../../src/domain/signing.ts'
import { wordsOfAct } from '../../../src/features/audit/entry-words.ts'
import { senders } from '../../../src/features/index.ts'
import { tendKeyEnds } from '../../../src/features/keys/end-work.ts'
import { extensionChange } from '../../../src/features/keys/extend.ts'
import { revokeChange } from '../../../src/features/keys/revoke.ts'
import { rotateChange } from '../../../src/features/keys/rotate.ts'
import { changeEnd, createKey, type KeyEnd, placeOf, readEnds, recordLaterEnd, shownAs, shownEnds } from '../../../src/kit/key-ends.ts'
import { apiKeys } from '../../../src/kit/things.ts'
import { createRepeatedLines } from '../../../src/ops/log.ts'
import { sweepOutbox } from '../../../src/outbox/outbox.ts'
import { seal } from '../../../src/redis/sealed.ts'
import { timesOf } from '../../../src/rights/times.ts'
import { catalog } from '../../given/catalog.ts'
import { startJobs } from '../../given/jobs.ts'
import { newRequestFor, requestFor } from '../../given/request.ts'
import { secretsOf, signatures, signedBy } from '../../given/signatures.ts'
import { expectDocument } from '../../messages/documents.ts'
import { wholeList } from '../../whole-list.ts'

const [minute, hour, day] = [60_000, 3_600_000, 24 * 3_600_000]
const [first, second] = ['a-key-for-tests-of-32-characters', 'the-next-key-for-tests-32-chars-']
const name = 'ci-deploy [U0ADA00001 1f2e3d4c5b6a]'
const request = { id: `1f2e3d4c5b6a${'7'.repeat(20)}`, origin: { userId: 'U0ADA00001', channelId: 'C0OPS00001' }, cardTs: '1000.1' }
const own: ApiKey = { id: 'tok_own', name: 'lockkeeper', tokenLastSlice: 'owner' }

const realNow = Date.now
afterEach(() => void vi.restoreAllMocks())

/** An account, a Redis and a Slack in which time passes as the test says: by Redis' clock, and by that of the processes. */
function startKeys() {
  const clock = { ahead: 0, ofProcess: 0 }
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + clock.ofProcess)
  let listed: ApiKey[] = [own]
  const calls: string[] = []
  const posts: { key: string; place: string; text: string; buttons: string[] }[] = []
  const faults: { on: string; error?: unknown; after?: boolean }[] = []
  const slackSays: { is: 'sent' | 'refused'; error?: string }[] = []
  let made = 0

  /** Counts a call, and fails as the test said, before or after it took effect. */
  async function called<Result>(operation: string, effect: () => Result): Promise<Result> {
    calls.push(`${operation} ${currentSpender(operation).lane}`)
    const index = faults.findIndex(({ on }) => on === operation)
    const [fault] = index < 0 ? [] : faults.splice(index, 1)
    if (fault && !fault.after) throw fault.error
    const result = effect()
    if (fault) throw fault.error
    return result
  }
  const apiKeys = {
    list: (): Promise<List<ApiKey>> => called('list', () => wholeList([...listed])),
    create: ({ name: text }: { name: string }) =>
      called('create', () => {
        made += 1
        const key: ApiKey & { allowedIps: string[] } = {
          allowedIps: [],
          id: `tok_${made}`,
          name: text,
          tokenLastSlice: `new${made}`,
          createdAt: new Date(Date.now()).toISOString(),
        }
        listed.push(key)
        return { key, token: new Secret('f'.repeat(36)) }
      }),
    rename: (id: string, text: string) =>
      called('rename', () => {
        const key = listed.find((one) => one.id === id)
        if (!key) throw new ApiError({ operation: 'apiKeys.rename', status: 404, codes: [] })
        key.name = text
        return { ...key, allowedIps: [] }
      }),
    delete: (id: string) =>
      called('delete', () => {
        listed = listed.filter((one) => one.id !== id)
      }),
  }
  const jobs = startJobs([])
  const messenger = {
    post: async (
      { channelId, threadTs, key = '' }: { channelId: string; threadTs?: string; key?: string },
      message: { text: string; blocks: object[] },
    ) => {
      const [answer] = slackSays.splice(0, 1)
      if (answer?.is === 'refused') return { is: 'refused' as const, error: answer.error ?? '' }
      const buttons = [...JSON.stringify(message.blocks).matchAll(/"action_id":"item:api-key:([^"]+)"/g)].map(([, kind = '']) => kind)
      posts.push({ key, place: threadTs === undefined ? channelId : `${channelId} ${threadTs}`, text: message.text, buttons })
      return { is: 'sent' as const, ts: '2000.1', channelId }
    },
    // Lockkeeper has no scope to search direct messages.
    find: async ({ channelId, key }: { channelId: string; key: string }) => {
      if (channelId.startsWith('U')) return { is: 'cannot-search' as const }
      return posts.some((post) => post.key === key) ? { is: 'found' as const, ts: '2000.1' } : { is: 'absent' as const }
    },
  }

  /** A process. All share the Redis, the account and the clock. */
  function startProcess(stateKeys = first) {
    const log = ({ code }: { code?: unknown }) => void jobs.said.push(String(code))
    return jobs.appWith({
      recordKeyring: createKeyring(secretsOf(stateKeys), { purpose: 'records', prefix: 'lockkeeper' }),
      account: { apiKeys },
      catalog,
      ownLastSlice: 'owner',
      store: { ...jobs.store, now: async () => (await jobs.store.now()) + clock.ahead },
      config: { ...jobs.app.config, signsWithApiKey: false },
      slack: { messenger, identity: { ...jobs.app.slack.identity, current: () => ({ teamId: 'T0LOCK0001' }) } } as never,
      senders,
      log: { error: log, warn: log },
      lines: createRepeatedLines({ info: log, warn: log, error: log }),
    })
  }
  const app = startProcess()
  /** One turn of the work, and then what it owes. Returns what the account was asked. */
  async function tend(by = app): Promise<string[]> {
    const before = calls.length
    await inLane('background', () => tendKeyEnds(by, AbortSignal.timeout(5_000)))
    const asked = calls.slice(before)
    await sweepOutbox(by, () => {})
    return asked
  }
  const create = async (lasts: number, label = name) => {
    const endsAt = Math.ceil(((await app.store.now()) + lasts) / minute) * minute
    const options = { onAnswer: () => {}, request }
    return inLane('send', () => createKey(app, { name: label, readOnly: true, allowedIps: [], endsAt }, options))
  }
  /** Another process, after a restart, or after the lists were read long ago. */
  const letPass = async (ms: number) => {
    clock.ahead += ms
    clock.ofProcess += ms
    await jobs.redis.del(jobs.keys.repeated('list-of-keys'))
  }
  /** An extension that its request made, and the account and Redis took. */
  const extend = async (keyId: string, by: number) => {
    const [record] = (await readEnds(app)).ends.values()
    if (!record) throw new Error('no key ends')
    const end = record.end + by
    await inLane('send', () => apiKeys.rename(keyId, writeKeyName({ ...record, end })))
    await recordLaterEnd(app, record, end)
    return end
  }
  /** A genuine request for a later end, in this state. */
  const requestExtension = async (keyId: string, endsAt: number, state: 'waiting' | 'approved' | 'starting', signer = signatures) => {
    const made = { kind: 'key.extend', input: { keyId, endsAt }, facts: { keyId, endsAt }, resource: `api_key:${keyId}` }
    const requested = signedBy(signer, newRequestFor({ ...made, ttlMs: 90 * day, createdAt: await jobs.store.now() }))
    await jobs.store.create(requested)
    await jobs.redis.hset(jobs.keys.record(requested.id), 'state', JSON.stringify(state))
    return requested.id
  }
  const acts = async () => (await jobs.entries()).map(({ act }) => act)
  return {
    ...jobs,
    ...{ app, startProcess, tend, create, extend, requestExtension, letPass, posts, calls, faults, slackSays, acts, clock, apiKeys },
    ids: () => listed.map(({ id }) => id).filter((id) => id !== own.id),
    put: (key: ApiKey) => void listed.push(key),
    keyOf: (id: string) => listed.find((one) => one.id === id),
    ends: async () => [...(await readEnds(app)).ends.values()],
  }
}

type Keys = ReturnType<typeof startKeys>
type App = Keys['app']

/** A list that does not change with the account. */
async function copied(list: () => Promise<List<ApiKey>>): Promise<List<ApiKey>> {
  const read = await list()
  return { ...read, items: read.items.map((one) => ({ ...one })) }
}

const unreachable = (operation: string) => new ApiUnreachableError({ operation, requestSent: 'unknown', problem: 'ECONNRESET' })

const msOf = (text: string) => Number.parseInt(text, 10) * ({ m: minute, h: hour, d: day }[text.at(-1) ?? ''] ?? 0)

/**
 * A key that lasts so long, and what happens then. `2h` passes. `delete!` fails and `delete~` loses its answer, `list%` finds no room under
 * the limit of the account. `redis+91d` is a clock that is wrong. At `turn` a process works, `turn(next)` with another STATE_KEY.
 */
const stories: [what: string, lasts: string, then: string][] = [
  ['The deletion fails, and is tried until the list shows the key no longer', '1h', '61m delete! turn list! turn delete~ turn turn'],
  ['The limit of reads is used up', '1h', '61m list% turn list% turn turn'],
  ['The limit of writes is used up', '1h', '61m delete% turn delete% turn turn'],
  ['All turns of the minute are taken', '1h', '61m turn(busy) turn'],
  ['It fails for an hour, of which the operators are told', '1h', '61m delete! turn 1h delete! turn 5m turn'],
  ['The clock of Redis is wrong', '90d', 'redis+91d turn'],
  ['The clock of the process is wrong', '90d', 'process+91d turn'],
  ['Redis lost the record: what the names say is for people', '30d', 'redis-lost 31d turn'],
  ['The bot was away for a month: it tells only what is still true', '30d', '29d 1h turn 30d turn'],
  ['The next STATE_KEY alone', '1h', '2h turn(next)'],
  ['The next STATE_KEY, after a process with both', '90d', 'turn(both) 91d turn(next)'],
]

/** Returns after each turn whether the key is there and how often people were told, and what was logged. */
async function tell(lasts: string, then: string): Promise<string> {
  const keys = startKeys()
  await keys.create(msOf(lasts))
  const processes = {
    'turn(next)': () => keys.startProcess(second),
    'turn(both)': () => keys.startProcess(`${second},${first}`),
    'turn(busy)': () => {
      const busy = keys.startProcess()
      return Object.assign(busy, { budget: { ...busy.budget, takeWrite: async () => 9_000 } })
    },
    turn: () => keys.app,
  }
  const said: string[] = []
  for (const step of then.split(' ')) {
    const [, operation = '', sign = ''] = /^(list|delete)([!~%])$/.exec(step) ?? []
    const [clock = '', by = ''] = step.split('+')
    const kind = operation === 'list' ? 'read' : 'write'
    if (sign === '%')
      keys.faults.push({ on: operation, error: new AccountLimitError({ operation, kind, waitMs: 9_000, perMinute: 20, answered: false }) })
    else if (operation) keys.faults.push({ on: operation, error: unreachable(`apiKeys.${operation}`), after: sign === '~' })
    else if (step === 'redis-lost') await keys.redis.del(keys.keys.keyEnds)
    else if (by) {
      keys.clock[clock === 'redis' ? 'ahead' : 'ofProcess'] += msOf(by)
      await keys.redis.del(keys.keys.repeated('list-of-keys'))
    } else if (step.startsWith('turn')) {
      await keys.tend(processes[step as keyof typeof processes]())
      said.push(`${keys.ids().length > 0 ? 'kept' : 'gone'}${keys.posts.length > 0 ? `, told ${keys.posts.length}` : ''}`)
    } else await keys.letPass(msOf(step))
  }
  return [said.join(' | '), ...new Set(keys.said)].join('\n')
}

test('what becomes of a key, turn by turn, is in ends.md', async () => {
  const told: [string, string][] = []
  for (const [what, lasts, then] of stories) told.push([what, `${lasts}: ${then}\n${await tell(lasts, then)}`])
  await expectDocument('ends.md', 'What becomes of a key that ends, after each turn', told)
})

describe('a key that ends', () => {
  test('is called for 7 days and 1 day before, and deleted at its end, each told once in its thread', async () => {
    const keys = startKeys()
    await keys.create(90 * day)
    expect(await keys.tend()).toEqual(['list background'])
    for (const ms of [82 * day, 2 * day, 5 * day, 2 * hour, day]) {
      await keys.letPass(ms)
      await keys.tend()
      await keys.tend()
    }

    expect(keys.ids()).toEqual([])
    const call = ':hourglass: <@U0ADA00001>, API key *ci-deploy* (token ends in `new1`) ends DATE. Its token stops working then.'
    expect(keys.posts.map(({ text }) => text.replace(/<!date[^>]*>/g, 'DATE'))).toEqual([
      call,
      call,
      ':no_entry_sign: API key *ci-deploy* (token ends in `new1`) has ended. It was deleted, and its token no longer works. cc <@U0ADA00001>',
    ])
    expect(new Set(keys.posts.map(({ place }) => place))).toEqual(new Set(['C0OPS00001 1000.1']))
    expect(keys.posts.map(({ buttons }) => buttons)).toEqual([['key.extend', 'key.rotate'], ['key.extend', 'key.rotate'], []])
    expect(await keys.acts()).toEqual(['call-for-key-end', 'call-for-key-end', 'end-key'])
    expect((await keys.entries()).map(wordsOfAct)).toEqual([
      'Notified the owner that a key ends soon: ci-deploy (token ends in new1)',
      'Notified the owner that a key ends soon: ci-deploy (token ends in new1)',
      'Deleted a key at its end: ci-deploy (token ends in new1)',
    ])
    // Messages name it so.
    expect(await Promise.all(['new1', 'new2'].map((slice) => apiKeys.wasThere?.(keys.app, slice)))).toEqual([true, false])
    expect(await keys.ends()).toEqual([])
  })

  test.each([
    ['', 30 * day, " The token of the newer key that replaced it isn't affected."],
    [', unless that ends, too', 2 * hour, ''],
  ])('which a newer one replaced is not taken for that one in the notice of its end%s', async (_, lasts, newer) => {
    const keys = startKeys()
    const { key } = await keys.create(2 * hour)
    await keys.create(lasts, name.replace('1f2e', '3f2e'))
    await changeEnd(keys.app, key.id, (before) => before && { ...before, isReplaced: true })
    await keys.letPass(3 * hour)
    await keys.tend()

    expect(keys.posts.find(({ text }) => text.includes('new1'))?.text).toBe(
      `:no_entry_sign: API key *ci-deploy* (token ends in \`new1\`) has ended. It was deleted, and its token no longer works.${newer} cc <@U0ADA00001>`,
    )
  })

  test('which a newer one replaced is called for like another one once that is gone, and shown so', async () => {
    const keys = startKeys()
    const { key } = await keys.create(30 * day)
    const newer = await keys.create(90 * day, name.replace('1f2e', '3f2e'))
    await changeEnd(keys.app, key.id, (before) => before && { ...before, isReplaced: true })
    const { preflight } = extensionChange(keys.app)
    const endsAt = (await keys.app.store.now()) + 60 * day
    const warned = async () => {
      const { warnings } = await inLane('send', () => preflight({ keyId: key.id, endsAt }, { signal: AbortSignal.timeout(5_000) }))
      return warnings?.map(({ code }) => code)
    }
    expect(await warned()).toEqual(['replaced', 'namesakes'])
    await inLane('send', () => keys.apiKeys.delete(newer.key.id))
    expect(await warned()).toEqual([])
    await keys.letPass(24 * day)
    await keys.tend()

    const text = expect.stringMatching(/ends <!date[^>]*>\. Its token stops working then\.$/)
    expect(keys.posts).toMatchObject([{ text, buttons: ['key.extend', 'key.rotate'] }])
  })

  test.each([
    ['key.rotate', true, rotateChange],
    ['key.extend', false, extensionChange],
  ])('is changed until its end, by an approval and by a button: %s', async (kind, isPressed, changeOf) => {
    const keys = startKeys()
    const { key } = await keys.create(hour)
    const [record] = await keys.ends()
    const input = { keyId: key.id, endsAt: (record?.end ?? 0) + day }
    const change = changeOf(keys.app) as Change
    const { facts } = await inLane('send', () => change.preflight(input, { signal: AbortSignal.timeout(5_000) }))
    expect(change.tooLateAt?.(facts)).toBe(record?.end)
    const { times } = timesOf(keys.app, requestFor({ kind, input, facts, resource: `api_key:${key.id}` }), [])
    expect(times.tooLateAt).toBe(isPressed ? record?.end : undefined)
  })

  test('which should have ended can be revoked', async () => {
    const keys = startKeys()
    const { key } = await keys.create(hour)
    await keys.letPass(2 * hour)
    const change = revokeChange(keys.app)
    const { facts } = await inLane('send', () => change.preflight({ keyId: key.id }, { signal: AbortSignal.timeout(5_000) }))
    expect([facts.ends?.end !== undefined, change.tooLateAt?.(facts)]).toEqual([true, undefined])
  })

  test('which a newer one replaced stays so although the account does not show when that was created', () => {
    const record = { keyId: 'tok_1', label: 'ci-deploy', requester: 'U0ADA00001', request: '1f2e3d4c5b6a', createdAt: 1, end: 2, since: 1 }
    const listed = ['tok_1', 'tok_2'].map((id): ApiKey => ({ id, name }))
    expect(shownAs({ ...record, isReplaced: true }, listed).isReplaced).toBe(true)
    expect(shownAs({ ...record, isReplaced: true }, listed.slice(0, 1)).isReplaced).toBeUndefined()
    expect(shownAs(record, listed).isReplaced).toBeUndefined()
  })

  test('which none replaced is not compared with each other key', () => {
    const record = { keyId: 'tok_1', label: 'ci-deploy', requester: 'U0ADA00001', request: '1f2e3d4c5b6a', createdAt: 1, end: 2, since: 1 }
    const read = vi.fn(() => name)
    shownAs(record, [Object.defineProperty({ id: 'tok_2' }, 'name', { get: read })])
    expect(read).not.toHaveBeenCalled()
  })

  test('which a newer one replaced is called for as such, and without a button for another token', async () => {
    const keys = startKeys()
    const { key } = await keys.create(30 * day)
    await keys.create(90 * day, name.replace('1f2e', '3f2e'))
    await changeEnd(keys.app, key.id, (before) => before && { ...before, isReplaced: true })
    await keys.letPass(24 * day)
    await keys.tend()

    expect(keys.posts).toMatchObject([
      {
        text: expect.stringMatching(/ends <!date[^>]*>, replaced by a newer key\. Its token stops working then\.$/),
        buttons: ['key.extend'],
      },
    ])
  })

  test('costs no call to the account while nothing is due, but one list in half an hour', async () => {
    const keys = startKeys()
    await keys.create(90 * day)
    const asked = []
    for (let turn = 0; turn < 10; turn += 1) asked.push(...(await keys.tend()))
    expect(asked).toEqual(['list background'])
    expect(await keys.redis.pttl(keys.keys.repeated('list-of-keys'))).toBeGreaterThan(29 * minute)
  })

  test('ends once, whatever two processes do at the same moment', async () => {
    const keys = startKeys()
    await keys.create(hour)
    await keys.letPass(2 * hour)
    const other = keys.startProcess()
    await Promise.all([keys.tend(), keys.tend(other), keys.tend(), keys.tend(other)])

    expect([keys.ids(), keys.posts.length, await keys.acts()]).toEqual([[], 1, ['end-key']])
  })

  test('is never deleted while Lockkeeper uses it, or may use it', async () => {
    const keys = startKeys()
    const { key } = await keys.create(hour)
    const other = await keys.create(hour, 'other [U0ADA00001 2f2e3d4c5b6a]')
    Object.assign(keys.keyOf(key.id) ?? {}, { tokenLastSlice: 'owner' })
    Object.assign(keys.keyOf(other.key.id) ?? {}, { tokenLastSlice: undefined })
    await keys.letPass(3 * hour)
    await keys.tend()

    expect(keys.ids()).toEqual([key.id, other.key.id])
    expect(keys.calls.filter((call) => call.startsWith('delete'))).toEqual([])
    expect(keys.said).toContain('key-end-overdue')
  })

  test('that was deleted or renamed by hand is neither called for nor told, and keeps its end', async () => {
    const keys = startKeys()
    const gone = await keys.create(10 * day)
    const renamed = await keys.create(10 * day, 'other [U0BEN00001 2f2e3d4c5b6a]')
    await keys.letPass(hour)
    await inLane('send', () => keys.apiKeys.delete(gone.key.id))
    await inLane('send', () => keys.apiKeys.rename(renamed.key.id, 'mine now'))
    await keys.tend()
    await keys.letPass(4 * day)
    await keys.tend()
    expect(keys.posts.map(({ text }) => /<@(\w+)>/.exec(text)?.[1])).toEqual(['U0BEN00001'])

    await keys.letPass(7 * day)
    await keys.tend()
    expect([keys.ids(), keys.posts.map(({ text }) => /\*(.*)\*/.exec(text)?.[1])]).toEqual([[], ['other', 'other']])
    expect(await keys.ends()).toEqual([])
  })

  test('is told as deleted if it was listed, also if an earlier list did not show it', async () => {
    const keys = startKeys()
    const { key } = await keys.create(hour)
    await changeEnd(keys.app, key.id, (before) => before && { ...before, gone: true })
    await keys.letPass(2 * hour)
    await keys.tend()
    expect([keys.ids(), keys.posts.length, await keys.acts()]).toEqual([[], 1, ['end-key']])
  })

  test('has its record before anybody sees its token: without Redis it is one that nobody saw', async () => {
    const keys = startKeys()
    keys.app.redis.hget = () => Promise.reject(new Error('Connection is closed.'))
    await expect(keys.create(hour)).rejects.toThrow(StoreUnavailableError)
  })
})

describe('a Redis that lost data', () => {
  test('and went back to last week, does not tell again what Slack has', async () => {
    const keys = startKeys()
    await keys.create(30 * day)
    await keys.tend()
    const backup = await keys.redis.hgetall(keys.keys.keyEnds)
    await keys.letPass(31 * day)
    await keys.tend()
    expect(keys.posts).toHaveLength(1)

    const messages = await keys.redis.keys(keys.keys.message('key-end-*').replace('{', '?').replace('}', '?'))
    await keys.redis.del(...messages)
    await keys.redis.hset(keys.keys.keyEnds, backup)
    await keys.letPass(hour)
    await keys.tend()
    expect([keys.posts.length, await keys.ends()]).toEqual([1, []])
  })

  test('and a name that was copied to another key, end only the key that Lockkeeper made', async () => {
    const keys = startKeys()
    const { key } = await keys.create(hour)
    keys.put({ ...key, id: 'tok_copy', tokenLastSlice: 'copy1' })
    await keys.letPass(2 * hour)
    await keys.tend()
    expect(keys.ids()).toEqual(['tok_copy'])
  })

  test('that somebody wrote to ends nothing, and operators are told', async () => {
    const keys = startKeys()
    await keys.create(30 * day)
    keys.put({ id: 'tok_theirs', name: 'theirs', tokenLastSlice: 'their' })
    const [text = ''] = Object.values(await keys.redis.hgetall(keys.keys.keyEnds))
    await keys.redis.hset(keys.keys.keyEnds, { tok_theirs: text, tok_1: text.replace(/"end":\d+/, '"end":1000') })
    await keys.tend()

    expect([keys.ids(), await keys.ends(), keys.said]).toEqual([['tok_1', 'tok_theirs'], [], ['key-end-untrusted']])
  })
})

test('the owner of a key that was extended while the clock of Redis was ahead is called', async () => {
  const keys = startKeys()
  const { key } = await keys.create(60 * day)
  keys.clock.ahead = 91 * day
  await keys.extend(key.id, 10 * day)
  keys.clock.ahead = 0
  for (const ms of [69 * day + hour, day]) {
    await keys.letPass(ms)
    await keys.tend()
  }
  expect([keys.ids(), keys.posts.length]).toEqual([[], 2])
})

describe('right before its deletion', () => {
  test.each<[when: string, meddle: (keys: Keys, app: App, extend: () => Promise<unknown>) => void]>([
    [
      'while the list is read',
      ({ apiKeys }, _, extend) => {
        const { list } = apiKeys
        apiKeys.list = async () => {
          apiKeys.list = list
          const found = await copied(list)
          await extend()
          return found
        }
      },
    ],
    [
      'in the wait for a turn',
      (_, app, extend) => Object.assign(app, { budget: { ...app.budget, takeWrite: async () => Number(!(await extend())) } }),
    ],
    [
      'between the looks at its requests and at its record',
      ({ apiKeys, store }, app, extend) => {
        const { list } = apiKeys
        apiKeys.list = () => copied(list)
        let looks = 0
        const othersFor: typeof app.store.othersFor = async (request) => {
          looks += 1
          // The first look is before the wait for a turn.
          if (looks === 2) await extend()
          return store.othersFor(request)
        }
        Object.assign(app, { store: { ...app.store, othersFor } })
      },
    ],
  ])('a key is judged again, and kept if it is extended %s', async (_, meddle) => {
    const keys = startKeys()
    const { key } = await keys.create(hour)
    await keys.letPass(hour + minute)
    const app = keys.startProcess()
    const extended = vi.fn(() => keys.extend(key.id, 30 * day))
    meddle(keys, app, extended)
    await keys.tend(app)
    expect(extended).toHaveBeenCalledOnce()
    expect([keys.ids(), keys.posts, keys.calls.filter((call) => call.startsWith('delete'))]).toEqual([[key.id], [], []])
    expect(await keys.ends()).toMatchObject([{ keyId: key.id }])
  })

  test.each<[what: string, change: (keys: Keys, keyId: string) => Promise<unknown>]>([
    ['has another end', (keys, id) => keys.extend(id, 90 * day)],
    [
      'was revoked',
      async (keys, id) => inLane('send', async () => revokeChange(keys.app).send?.({ keyId: id }, {} as never, { onAnswer: () => {} })),
    ],
    ['was deleted by hand', (keys, id) => inLane('send', () => keys.apiKeys.delete(id))],
  ])('a call that waits for Slack is not made for a key that %s', async (_, change) => {
    const keys = startKeys()
    const { key } = await keys.create(30 * day)
    await keys.letPass(24 * day)
    await inLane('background', () => tendKeyEnds(keys.app, AbortSignal.timeout(5_000)))
    await change(keys, key.id)
    await keys.redis.del(keys.keys.repeated('list-of-keys'))
    await keys.tend()
    expect(keys.posts).toEqual([])
  })

  const newer = createKeyring(secretsOf(second), { purpose: 'requests', prefix: 'lockkeeper' })

  test.each<[what: string, keeps: boolean, request: (keys: Keys, keyId: string, end: number) => Promise<unknown>]>([
    ['that is approved', true, (keys, id, end) => keys.requestExtension(id, end + 30 * day, 'approved')],
    ['that is being sent', true, (keys, id, end) => keys.requestExtension(id, end + 30 * day, 'starting')],
    [
      'that another process signed with a newer STATE_KEY',
      true,
      (keys, id, end) => keys.requestExtension(id, end + 30 * day, 'approved', createRequestSignatures(newer)),
    ],
    ['that is not approved', false, (keys, id, end) => keys.requestExtension(id, end + 30 * day, 'waiting')],
    ['that does not make it later', false, (keys, id, end) => keys.requestExtension(id, end, 'approved')],
    [
      'that somebody wrote into Redis',
      false,
      async (keys, keyId, end) => {
        const id = await keys.requestExtension(keyId, end, 'approved')
        await keys.redis.hset(keys.keys.record(id), 'input', JSON.stringify({ keyId, endsAt: end + 30 * day }))
      },
    ],
  ])('a request for a later end %s keeps it for a day: %s, and no notice asks to delete it', async (_, keeps, request) => {
    const keys = startKeys()
    const { key } = await keys.create(hour)
    const [{ end } = { end: 0 }] = await keys.ends()
    await request(keys, key.id, end)
    for (const ms of [2 * hour, 22 * hour]) {
      await keys.letPass(ms)
      await keys.tend()
      expect(keys.ids()).toEqual(keeps ? [key.id] : [])
      expect((await shownEnds(keys.app, [key])).get(key.id)?.keptUntil).toBe(keeps ? end + day : undefined)
    }
    keys.faults.push({ on: 'list', error: unreachable('apiKeys.list') })
    await keys.letPass(minute)
    await keys.tend()
    expect(keys.said).not.toContain('key-end-overdue')
    await keys.letPass(2 * hour)
    await keys.tend()
    expect(keys.ids()).toEqual([])
  })
})

describe('a second rotation, before the old key got the end that it has of the first one,', () => {
  const rotate = async (keys: Keys) => {
    const { key } = await keys.create(90 * day)
    const [old] = await keys.ends()
    Object.assign(keys.keyOf(key.id) ?? {}, { readOnly: true })
    const first = await rotatedBeside(keys, old as KeyEnd, 7 * day)
    return { keyId: key.id, old: old as KeyEnd, first, change: rotateChange(keys.app) }
  }

  test('gives it the end that its message says', async () => {
    const keys = startKeys()
    const { keyId, old, first, change } = await rotate(keys)
    const input = { keyId, oldEndsAt: { afterMs: hour }, newKey: ' [U0ADA00001 3f2e3d4c5b6a]' }
    const { facts } = await inLane('send', () => change.preflight(input, { signal: AbortSignal.timeout(5_000) }))
    const { endsAt, since } = facts.overlap ?? {}
    const second = await rotatedBeside(keys, old, hour, { end: endsAt, since })
    const { list } = keys.apiKeys
    keys.apiKeys.list = () => copied(list)
    for (const _ of [first, second]) await keys.tend()

    expect(endsAt).toBe(first.end)
    expect(await keys.ends()).toMatchObject([{ end: second.end }])
  })

  test.each<[name: string, later: (ends: { old: KeyEnd; first: KeyEnd }) => number]>([
    ['by a day', ({ first }) => first.end + day],
    ['to its end before the rotation', ({ old }) => old.end],
  ])('is extended from its own earlier end %s, and stays replaced', async (_, later) => {
    const keys = startKeys()
    const { keyId, old, first } = await rotate(keys)
    const { preflight, send } = extensionChange(keys.app)
    const input = { keyId, endsAt: later({ old, first }) }
    const signal = AbortSignal.timeout(5_000)
    const { facts } = await inLane('send', () => preflight(input, { signal }))
    expect(facts.known?.end).toBe(first.end)
    expect(await inLane('send', async () => send?.(input, facts, { onAnswer: () => {} }))).toBe('done')

    await keys.tend()
    expect(await keys.ends()).toMatchObject([{ keyId, end: input.endsAt, isReplaced: true }])
    expect(Object.keys(await keys.redis.hgetall(keys.keys.keyEnds))).toEqual([keyId])
  })

  test('was not extended because it had a later end before the rotation', async () => {
    const keys = startKeys()
    const { keyId, first } = await rotate(keys)
    const { observe } = extensionChange(keys.app)
    const input = { keyId, endsAt: first.end + day }
    const moment = { phase: 'sent', isUnsettled: false, sinceSentMs: minute } as never
    const observed = inLane('send', () => observe(input, { ...input, known: first }, moment, {} as never))
    expect(await observed).toMatchObject({ is: 'not-started' })
  })

  test('says when it ends', async () => {
    const keys = startKeys()
    const { keyId, first, change } = await rotate(keys)
    Object.assign(keys.apiKeys, { rotate: async () => ({ token: new Secret('f'.repeat(36)) }) })
    const issued = await change.handover?.issue({ keyId }, { keyId, name }, { onAnswer: () => {}, request })

    expect(issued?.endsAt).toBe(first.end)
  })
})

describe('a record from before a later end', () => {
  test('ends nothing when somebody puts it back: the name says more, and operators are told', async () => {
    const keys = startKeys()
    const { key } = await keys.create(hour)
    const before = await keys.redis.hgetall(keys.keys.keyEnds)
    await keys.extend(key.id, 30 * day)
    await keys.redis.hset(keys.keys.keyEnds, before)
    for (const ms of [hour + minute, hour]) {
      await keys.letPass(ms)
      await keys.tend()
    }
    expect([keys.ids(), keys.posts, keys.said]).toEqual([[key.id], [], ['key-end-overdue']])
  })

  test.each([
    ['with the record that it replaced', true],
    ['without any record', false],
  ])('settles nothing if it is that of a rotation, put back %s', async (_, withRecord) => {
    const keys = startKeys()
    const { key } = await keys.create(10 * day)
    const [old] = await keys.ends()
    const before = await keys.redis.hgetall(keys.keys.keyEnds)
    const pending = await rotatedBeside(keys, old as KeyEnd, day)
    const text = seal(keys.app.recordKeyring, 'key-end', pending)
    await keys.tend()
    expect(await keys.ends()).toMatchObject([{ end: pending.end }])
    const end = await keys.extend(key.id, 30 * day)

    if (withRecord) await keys.redis.hset(keys.keys.keyEnds, before)
    else await keys.redis.del(keys.keys.keyEnds)
    await keys.redis.hset(keys.keys.keyEnds, placeOf(pending), text)
    await keys.letPass(2 * day)
    await keys.tend()
    await keys.letPass(9 * day)
    await keys.tend()
    expect([keys.ids(), parseKeyName(keys.keyOf(key.id)?.name)?.end]).toEqual([[key.id], end])
    expect(Object.keys(await keys.redis.hgetall(keys.keys.keyEnds))).not.toContain(placeOf(pending))
  })

  test('settles nothing if it is that of a rotation, and an extension is sent while the list is read', async () => {
    const keys = startKeys()
    const { key } = await keys.create(10 * day)
    const [old] = await keys.ends()
    await rotatedBeside(keys, old as KeyEnd, day)
    const { list } = keys.apiKeys
    keys.apiKeys.list = async () => {
      keys.apiKeys.list = list
      const found = await list()
      await keys.requestExtension(key.id, (old?.end ?? 0) + day, 'starting')
      return found
    }
    await keys.tend()
    expect(keys.calls.filter((call) => call.startsWith('rename'))).toEqual([])
  })

  test('is not made for the old key of a rotation that is revoked while the list is read', async () => {
    const keys = startKeys()
    const { key } = await keys.create(10 * day)
    const [old] = await keys.ends()
    await keys.redis.del(keys.keys.keyEnds)
    Object.assign(keys.keyOf(key.id) ?? {}, { name })
    await rotatedBeside(keys, old as KeyEnd, 10 * minute, {})
    const { list } = keys.apiKeys
    keys.apiKeys.list = async () => {
      keys.apiKeys.list = list
      const found = await list()
      await keys.apiKeys.delete(key.id)
      return found
    }
    await keys.tend()
    await keys.letPass(11 * minute)
    await keys.tend()
    expect([keys.posts, await keys.acts()]).toMatchObject([[], expect.not.arrayContaining(['end-key'])])
  })

  test('is not missed by a rotation of a key whose record Redis lost: its name has what is replaced', async () => {
    const keys = startKeys()
    const { key } = await keys.create(10 * day)
    const [old] = await keys.ends()
    await keys.redis.del(keys.keys.keyEnds)
    const pending = await rotatedBeside(keys, old as KeyEnd, day, { end: old?.end })
    await keys.tend()
    expect(await keys.ends()).toMatchObject([{ keyId: key.id, end: pending.end }])
  })

  test('settles nothing if it is that of a rotation, and the key has the end again that the rotation replaced', async () => {
    const keys = startKeys()
    const { key } = await keys.create(10 * day)
    const [old] = await keys.ends()
    const pending = await rotatedBeside(keys, old as KeyEnd, day)
    const text = seal(keys.app.recordKeyring, 'key-end', pending)
    await keys.tend()
    const end = await keys.extend(key.id, (old?.end ?? 0) - pending.end)
    expect(end).toBe(old?.end)

    await keys.redis.hset(keys.keys.keyEnds, placeOf(pending), text)
    await keys.letPass(2 * day)
    await keys.tend()
    await keys.tend()
    expect([keys.ids(), await keys.ends()]).toMatchObject([[key.id], [{ end }]])
  })

  test.each([
    ['by a later version', { version: '99' }],
    ['by nobody', {}],
  ])('of a rotation whose request was written %s holds up no other key', async (_, written) => {
    const keys = startKeys()
    await keys.create(hour)
    const [old] = await keys.ends()
    const pending = await rotatedBeside(keys, { ...(old as KeyEnd), keyId: 'tok_9' }, day)
    await keys.redis.hset(keys.keys.record(pending.once ?? ''), { ...written, resource: '7' })
    await keys.letPass(2 * hour)
    await inLane('background', () => tendKeyEnds(keys.app, AbortSignal.timeout(5_000)))
    expect(keys.ids()).toEqual([])
    expect(Object.keys(await keys.redis.hgetall(keys.keys.keyEnds))).toEqual([placeOf(pending)])
  })

  test('does not replace a newer one: of two changes at once, none is lost', async () => {
    const keys = startKeys()
    const { key } = await keys.create(day)
    const [known] = await keys.ends()
    const letters = [...'abcdefghij']
    const adding = (letter: string) => (before: KeyEnd | undefined) => before && { ...before, label: before.label + letter }
    await Promise.all(letters.map((letter) => changeEnd(keys.startProcess(), key.id, adding(letter))))
    expect((await keys.ends())[0]?.label.replace('ci-deploy', '').split('').toSorted()).toEqual(letters)
    expect(await recordLaterEnd(keys.app, { ...(known as KeyEnd), end: 1 }, 2)).toBe(false)
  })
})

/** A rotation of Ada that is done, and keeps the old key for `ms`. Returns what waits for it. */
async function rotatedBeside(
  { app, store, redis, keys: names }: Keys,
  old: KeyEnd,
  ms: number,
  replaces: KeyEnd['replaces'] = { end: old.end, since: old.since },
): Promise<KeyEnd> {
  const made = { kind: 'key.rotate', resource: `api_key:${old.keyId}`, id: randomUUID().replaceAll('-', '') }
  await store.create(signedBy(signatures, newRequestFor({ ...made, needsApproval: false, approvalsNeeded: 0 })))
  const read = async () => (await store.find(made.id)) as NonNullable<Awaited<ReturnType<typeof store.find>>>
  await store.take(await read(), 'exempt')
  const seen = { seen: 1 }
  await store.take(await read(), 'issue', { set: { seen, seenSignature: signatures.signSeen(await read(), seen) } })
  await store.take(await read(), 'finish')
  const now = await app.store.now()
  const pending: KeyEnd = { ...old, end: wholeMinute(now + ms), since: now, once: made.id, isReplaced: true, replaces }
  await redis.hset(names.keyEnds, placeOf(pending), seal(app.recordKeyring, 'key-end', pending))
  return pending
}

describe('another STATE_KEY', () => {
  test('leaves a rotation whose request it cannot verify to those who can', async () => {
    const keys = startKeys()
    await keys.create(10 * day)
    const [old] = await keys.ends()
    const pending = await rotatedBeside(keys, old as KeyEnd, day)
    const other = createRequestSignatures(createKeyring(secretsOf(second), { purpose: 'requests', prefix: 'lockkeeper' }))
    await keys.tend(Object.assign(keys.startProcess(), { signatures: other }))
    expect(await keys.ends()).toMatchObject([{ end: old?.end }])
    await keys.tend()
    expect(await keys.ends()).toMatchObject([{ end: pending.end }])
  })

  test('signs nothing again that it cannot verify', async () => {
    const keys = startKeys()
    await keys.create(90 * day)
    const stored = await keys.redis.hgetall(keys.keys.keyEnds)
    const forged = { tok_forged: (stored.tok_1 ?? '').replace('tok_1', 'tok_forged') }
    await keys.redis.hset(keys.keys.keyEnds, forged)
    await keys.tend(keys.startProcess(second))
    expect(await keys.redis.hgetall(keys.keys.keyEnds)).toEqual({ ...stored, ...forged })
  })
})

test('if its thread is gone, its owner is told directly, and otherwise the operators', async () => {
  const keys = startKeys()
  await keys.create(30 * day)
  await keys.letPass(23 * day + hour)
  keys.slackSays.push({ is: 'refused', error: 'channel_not_found' })
  await keys.tend()
  expect(keys.posts.map(({ place, buttons }) => [place, buttons])).toEqual([['U0ADA00001', []]])

  await keys.letPass(6 * day)
  keys.slackSays.push({ is: 'refused', error: 'is_archived' }, { is: 'refused', error: 'user_disabled' })
  await keys.tend()
  expect(keys.said).toContain('report-undeliverable')
})
