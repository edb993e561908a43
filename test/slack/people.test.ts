import { WebAPIPlatformError, WebAPIRateLimitedError, type WebClient } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { createDirectory } from '../../src/slack/people.ts'

/**
 * The part of Slack that the directory reads, and a clock that only `pass` moves. A read of `undefined` fails with an unknown outcome; a read
 * of an error throws it.
 */
function workspace() {
  const users = new Map<string, object | undefined>()
  const groups = new Map<string, string[] | Error | Promise<string[]> | undefined>()
  const channels = new Map<string, object | Error | undefined>()
  const memberPages: string[][] = []
  const handles: { list: object[] | undefined } = { list: [] }
  const calls: string[] = []
  const failure = () => new WebAPIPlatformError({ ok: false, error: 'fatal_error' })
  const answer = <T>(found: T | Error | undefined): T => {
    if (found instanceof Error) throw found
    if (found === undefined) throw failure()
    return found
  }
  const client = {
    users: {
      info: async ({ user }: { user: string }) => {
        calls.push(user)
        if (!users.get(user)) throw failure()
        return { ok: true, user: users.get(user) }
      },
    },
    usergroups: {
      users: {
        list: async ({ usergroup }: { usergroup: string }) => {
          calls.push(usergroup)
          return { ok: true, users: answer(await groups.get(usergroup)) }
        },
      },
      list: async () => {
        calls.push('usergroups')
        return { ok: true, usergroups: answer(handles.list) }
      },
    },
    conversations: {
      info: async ({ channel }: { channel: string }) => {
        calls.push(channel)
        return { ok: true, channel: answer(channels.get(channel)) }
      },
      members: async ({ cursor = '0', limit }: { cursor?: string; limit: number }) => {
        // Slack's documentation: "a limit value under 1000".
        expect(limit).toBeLessThan(1_000)
        calls.push(`members ${cursor}`)
        const next = Number(cursor) + 1
        return {
          ok: true,
          members: answer(memberPages[Number(cursor)]),
          response_metadata: { next_cursor: memberPages[next] ? `${next}` : '' },
        }
      },
    },
  } as unknown as WebClient
  let time = Date.UTC(2026, 10, 18, 14)
  return {
    users,
    groups,
    channels,
    memberPages,
    handles,
    calls,
    directory: createDirectory({ client, now: () => time }),
    pass: (ms: number) => {
      time += ms
    },
  }
}

const refused = (error: string) => new WebAPIPlatformError({ ok: false, error })
const rateLimited = new WebAPIRateLimitedError(30)

const ben = { id: 'U0BEN00001', team_id: 'T0NIMBUS01' }

describe('a person', () => {
  it.each([
    ['a member', {}, 'member'],
    ['a member who authorized the app', { is_app_user: true }, 'member'],
    ['a guest of several channels', { is_restricted: true }, 'guest'],
    ['a guest of one channel', { is_restricted: true, is_ultra_restricted: true }, 'guest'],
    ['a bot', { is_bot: true }, 'bot'],
    ['a person of another workspace', { is_stranger: true }, 'stranger'],
    ['a deactivated account', { deleted: true }, 'deleted'],
    ['a deactivated guest', { deleted: true, is_restricted: true }, 'deleted'],
  ])('is what Slack says: %s', async (_, flags, standing) => {
    const { directory, users } = workspace()
    users.set('U0BEN00001', { ...ben, ...flags })

    expect(await directory.person('U0BEN00001')).toEqual({ userId: 'U0BEN00001', standing, teamIds: ['T0NIMBUS01'] })
  })

  it.each<[string, object, string[]]>([
    ['an older answer', { team_id: 'T0NIMBUS01' }, ['T0NIMBUS01']],
    ['no workspace', { team_id: undefined }, []],
    [
      'the organization, and its workspaces',
      { team_id: 'E1', enterprise_user: { enterprise_id: 'E1', teams: ['T2', 'T1'] } },
      ['E1', 'E1', 'T2', 'T1'],
    ],
    ['another workspace first', { team_id: 'T2', enterprise_user: { teams: ['T1'] } }, ['T2', 'T1']],
    ['all workspaces alone', { team_id: undefined, enterprise_user: { enterprise_id: 'E1', teams: ['T1'] } }, ['E1', 'T1']],
    ['an organization without workspaces', { team_id: undefined, enterprise_user: { enterprise_id: 'E1', teams: null } }, ['E1']],
    ['nothing, as null', { team_id: null, enterprise_user: null }, []],
  ])('belongs to what Slack names: %s', async (_, answer, teamIds) => {
    const { directory, users } = workspace()
    users.set('U0BEN00001', { ...ben, ...answer })

    expect((await directory.person('U0BEN00001')).teamIds).toEqual(teamIds)
  })

  it.each([
    ['does not answer', undefined],
    ['answers with something else', { name: 'ben' }],
    ['answers about somebody else', { ...ben, id: 'U0CHI00001' }],
  ])('is unknown while Slack %s, and is read again at the next call', async (_, answer) => {
    const { directory, users } = workspace()
    users.set('U0BEN00001', answer)

    const before = await directory.person('U0BEN00001')
    users.set('U0BEN00001', ben)
    const after = await directory.person('U0BEN00001')

    expect(before).toEqual({ userId: 'U0BEN00001', standing: 'unknown', teamIds: [] })
    expect(after.standing).toBe('member')
  })
})

const group = 'S0ONCALL01'
type Space = ReturnType<typeof workspace>
const onCall = async ({ directory }: Space, purpose?: 'decision' | 'request' | 'refusal') => {
  const members = (await directory.members([group], purpose)).get(group)
  return members === 'unknown' ? members : [...(members ?? [])]
}

it.each<[string, number, (space: Space, isLater: boolean) => void, (space: Space) => Promise<unknown>]>([
  [
    'a person for a minute',
    60_000,
    ({ users }, deleted) => users.set('U0BEN00001', { ...ben, deleted }),
    ({ directory }) => directory.person('U0BEN00001'),
  ],
  [
    'a person who requests or decides for 10 s',
    10_000,
    ({ users }, deleted) => users.set('U0BEN00001', { ...ben, deleted }),
    ({ directory }) => directory.person('U0BEN00001', { fresh: true }),
  ],
  [
    'a channel for a minute',
    60_000,
    ({ channels }, isLater) => channels.set('C0OPS00001', { is_ext_shared: isLater }),
    ({ directory }) => directory.channel('C0OPS00001'),
  ],
  [
    'the members of a group for 15 s, so that a removed person loses the right soon',
    15_000,
    ({ groups }, isLater) => groups.set(group, isLater ? [] : ['U0BEN00001']),
    (space) => onCall(space),
  ],
  [
    'the members of a group, for a refusal, for a minute, so that people without rights cost no calls',
    60_000,
    ({ groups }, isLater) => groups.set(group, isLater ? [] : ['U0BEN00001']),
    (space) => onCall(space, 'refusal'),
  ],
  [
    'the names of groups for ten minutes',
    600_000,
    ({ handles }, isLater) => {
      handles.list = [{ id: group, handle: isLater ? 'later' : 'oncall' }]
    },
    ({ directory }) => directory.names([group]),
  ],
])('keeps %s, and no longer', async (_, maxAge, set, read) => {
  const space = workspace()
  set(space, false)
  const first = await read(space)
  set(space, true)

  space.pass(maxAge - 1)
  expect(await read(space)).toEqual(first)
  space.pass(1)
  expect(await read(space)).not.toEqual(first)
  expect(space.calls).toHaveLength(2)
})

describe('a channel', () => {
  it.each<[string, object | Error, string]>([
    ['of this workspace alone', { is_channel: true }, 'usual'],
    ['that is private', { is_group: true, is_private: true }, 'usual'],
    ['shared with another organization', { is_ext_shared: true, is_shared: true }, 'shared'],
    ['that another organization was invited to', { is_pending_ext_shared: true }, 'shared'],
    ['shared between workspaces of the same organisation', { is_shared: true, is_org_shared: true }, 'usual'],
    ['that is a direct message of several people', { is_mpim: true, is_group: true }, 'group-direct'],
    ['that is a direct message of several organisations', { is_mpim: true, is_ext_shared: true }, 'shared'],
    ['that is a direct message', { is_im: true }, 'direct'],
    ['for which a scope is missing', refused('missing_scope'), 'unreadable'],
    ['that Slack hides', refused('channel_not_found'), 'unreadable'],
    ['while Slack has a problem', refused('fatal_error'), 'unknown'],
    ['while Slack limits the calls', rateLimited, 'unknown'],
    ['while Slack cannot be reached', new Error('getaddrinfo ENOTFOUND slack.com'), 'unknown'],
  ])('%s', async (_, channel, standing) => {
    const { directory, channels } = workspace()
    channels.set('C0OPS00001', channel)

    expect(await directory.channel('C0OPS00001')).toBe(standing)
  })

  it.each<[string, object | Error, boolean | 'unknown']>([
    ['Slack says so', { is_member: true }, true],
    ['Slack says that it is not', { is_member: false }, false],
    ['Slack hides the channel', refused('channel_not_found'), false],
    ['a scope is missing', refused('missing_scope'), 'unknown'],
    ['Slack does not say', {}, 'unknown'],
    ['Slack limits the calls', rateLimited, 'unknown'],
    ['Slack cannot be reached', new Error('getaddrinfo ENOTFOUND slack.com'), 'unknown'],
  ])('has the bot as a member, not, or perhaps, as %s', async (_, channel, has) => {
    const { directory, channels } = workspace()
    channels.set('C0OPS00001', channel)

    expect(await directory.hasBot('C0OPS00001')).toBe(has)
  })

  it('is read again each time the bot is not a member, and otherwise costs no extra call', async () => {
    const { directory, channels, calls } = workspace()
    channels.set('C0OPS00001', { is_member: false })
    await directory.channel('C0OPS00001')
    const before = await directory.hasBot('C0OPS00001')
    channels.set('C0OPS00001', { is_member: true })
    const invited = await directory.hasBot('C0OPS00001')
    const still = await directory.hasBot('C0OPS00001')

    expect([before, invited, still]).toEqual([false, true, true])
    expect(calls).toHaveLength(3)
  })

  it.each<[string, object | Error, string[][], boolean | 'unknown']>([
    ['everybody, if it is public', { is_private: false }, [], true],
    ['its members, if it is private', { is_private: true }, [['U0BEN00001'], ['U0ADA00001']], true],
    ['nobody else, if it is private', { is_private: true }, [['U0BEN00001'], ['U0CHI00001']], false],
    ['perhaps somebody among too many to read', { is_private: true }, Array.from({ length: 7 }, () => ['U0BEN00001']), 'unknown'],
    ['perhaps, if Slack does not list its members', { is_private: true }, [], 'unknown'],
    ['perhaps, if Slack does not show it', refused('missing_scope'), [], 'unknown'],
  ])('is open to %s', async (_, channel, pages, isOpen) => {
    const { directory, channels, memberPages, calls } = workspace()
    channels.set('C0OPS00001', channel)
    memberPages.push(...pages)

    expect(await directory.isOpenTo('C0OPS00001', 'U0ADA00001')).toBe(isOpen)
    expect(calls.length).toBeLessThanOrEqual(6)
  })
})

describe('names', () => {
  it('of people and groups are those that Slack shows, without those that cannot be read', async () => {
    const { directory, users, handles } = workspace()
    users.set('U0BEN00001', { ...ben, name: 'blaurent', real_name: 'Ben Laurent', profile: { display_name: 'ben' } })
    users.set('U0CHI00001', { id: 'U0CHI00001', real_name: 'Chiara Conti', profile: { display_name: '' } })
    users.set('U0DOV00001', { id: 'U0DOV00001', name: 'dov' })
    handles.list = [{ id: 'S0ONCALL01', handle: 'oncall', name: 'On call' }]

    expect(await directory.names(['U0BEN00001', 'U0CHI00001', 'U0DOV00001', 'U0GONE0001', 'S0ONCALL01'])).toEqual(
      new Map([
        ['U0BEN00001', '@ben'],
        ['U0CHI00001', '@Chiara Conti'],
        ['U0DOV00001', '@dov'],
        ['S0ONCALL01', '@oncall'],
      ]),
    )
  })
})

describe('the members of user groups', () => {
  it('are returned by group, and are unknown only for the group that cannot be read', async () => {
    const { directory, groups, calls } = workspace()
    groups.set(group, ['U0BEN00001', 'U0CHI00001'])
    groups.set('S0LEADS001', [])

    expect(await directory.members([])).toEqual(new Map())
    expect(calls).toEqual([])
    expect(await directory.members([group, 'S0LEADS001', 'S0GONE0001'])).toEqual(
      new Map<string, unknown>([
        [group, new Set(['U0BEN00001', 'U0CHI00001'])],
        ['S0LEADS001', new Set()],
        ['S0GONE0001', 'unknown'],
      ]),
    )
  })

  it('are read again at a decision, whatever is cached, and unknown if that fails', async () => {
    const space = workspace()
    space.groups.set(group, ['U0BEN00001'])
    await onCall(space)
    space.groups.set(group, [])
    expect(await onCall(space, 'decision')).toEqual([])
    space.groups.set(group, undefined)
    expect(await onCall(space, 'decision')).toBe('unknown')
    expect(space.calls).toHaveLength(3)
  })

  it('come from the cache at a decision if Slack limits the calls, and are unknown after 15 s', async () => {
    const space = workspace()
    space.groups.set(group, ['U0BEN00001'])
    await onCall(space)
    space.groups.set(group, rateLimited)

    space.pass(14_999)
    expect(await onCall(space, 'decision')).toEqual(['U0BEN00001'])
    space.pass(1)
    expect(await onCall(space, 'decision')).toBe('unknown')
  })

  it('come from a parallel read if Slack limits the calls', async () => {
    const space = workspace()
    const refusal = Promise.withResolvers<string[]>()
    space.groups.set(group, refusal.promise)
    const deciding = onCall(space, 'decision')
    space.pass(15_000)
    space.groups.set(group, ['U0BEN00001'])
    await onCall(space)

    refusal.reject(rateLimited)

    expect(await deciding).toEqual(['U0BEN00001'])
  })

  it('are read for decisions alone when 12 of the 20 calls of a minute are spent', async () => {
    const { directory, groups, calls, pass } = workspace()
    const ids = Array.from({ length: 13 }, (_, index) => `S${index}`)
    for (const id of ids) groups.set(id, ['U0BEN00001'])
    await directory.members(['S12'], 'refusal')
    pass(60_000)
    await Promise.all(ids.slice(0, 12).map((id) => directory.members([id], 'request')))
    groups.set('S12', [])
    calls.length = 0

    expect(await directory.members(['S12'], 'request')).toEqual(new Map([['S12', 'unknown']]))
    expect(await directory.members(['S12'], 'refusal')).toEqual(new Map([['S12', new Set(['U0BEN00001'])]]))
    expect(calls).toEqual([])
    expect(await directory.members(['S12'], 'decision')).toEqual(new Map([['S12', new Set()]]))
    pass(60_000)
    await directory.members(['S12'], 'request')

    expect(calls).toEqual(['S12', 'S12'])
  })
})

describe('concurrent callers', () => {
  it('share one read of the person, the group and the channel', async () => {
    const space = workspace()
    const { directory, users, groups, channels, calls } = space
    users.set('U0BEN00001', ben)
    groups.set(group, ['U0BEN00001'])
    channels.set('C0OPS00001', { is_channel: true })
    const readAll = () => Promise.all([directory.person('U0BEN00001'), onCall(space), directory.channel('C0OPS00001')] as const)

    for (const [person, members, channel] of await Promise.all(Array.from({ length: 24 }, readAll))) {
      expect([person.standing, members, channel]).toEqual(['member', ['U0BEN00001'], 'usual'])
    }
    expect(calls).toEqual(['U0BEN00001', group, 'C0OPS00001'])
  })

  it('who decide while a group is read share the next read of it', async () => {
    const space = workspace()
    space.groups.set(group, ['U0BEN00001'])

    const decided = await Promise.all(Array.from({ length: 24 }, () => onCall(space, 'decision')))

    expect(decided).toEqual(Array(24).fill(['U0BEN00001']))
    expect(space.calls).toHaveLength(2)
  })

  it('never decide by a read of a group that began before the decision', async () => {
    const space = workspace()
    space.groups.set(group, ['U0BEN00001'])
    const reading = onCall(space)
    space.groups.set(group, [])

    const decided = await onCall(space, 'decision')

    expect([await reading, decided, space.calls.length]).toEqual([['U0BEN00001'], [], 2])
  })
})

it.each([
  ['as old as the beginning of its read, not the end', false],
  ['that of the read that began last, even if an earlier read ends after it', true],
])('a cached answer is %s', async (_, isReadMeanwhile) => {
  const space = workspace()
  const slow = Promise.withResolvers<string[]>()
  space.groups.set(group, slow.promise)
  const reading = onCall(space)
  space.groups.set(group, [])
  space.pass(15_000)
  if (isReadMeanwhile) await onCall(space)

  slow.resolve(['U0BEN00001'])
  await reading

  expect(await onCall(space)).toEqual([])
  expect(space.calls).toHaveLength(2)
})
