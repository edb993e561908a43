import { WebAPIPlatformError, type WebClient } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { createDirectory } from '../../src/slack/directory.ts'

/** Slack as far as the directory asks it, and a clock that stands until it is moved. `undefined` is a look-up that fails. */
function workspace() {
  const users = new Map<string, object | undefined>()
  const groups = new Map<string, string[] | undefined>()
  const asked: string[] = []
  const failure = () => new WebAPIPlatformError({ ok: false, error: 'fatal_error' })
  const client = {
    users: {
      info: async ({ user }: { user: string }) => {
        asked.push(user)
        if (!users.get(user)) throw failure()
        return { ok: true, user: users.get(user) }
      },
    },
    usergroups: {
      users: {
        list: async ({ usergroup }: { usergroup: string }) => {
          asked.push(usergroup)
          if (!groups.get(usergroup)) throw failure()
          return { ok: true, users: groups.get(usergroup) }
        },
      },
    },
  } as unknown as WebClient
  let time = Date.UTC(2026, 10, 18, 14)
  return {
    users,
    groups,
    asked,
    directory: createDirectory({ client, now: () => time }),
    pass: (ms: number) => {
      time += ms
    },
  }
}

const ben = { id: 'U0BEN00001', team_id: 'T0NIMBUS01' }

describe('a person', () => {
  it.each([
    ['a member', {}, 'member'],
    ['a member who authorized the app', { is_app_user: true }, 'member'],
    ['a guest of several channels', { is_restricted: true }, 'guest'],
    ['a guest of one channel', { is_restricted: true, is_ultra_restricted: true }, 'guest'],
    ['a bot', { is_bot: true }, 'bot'],
    ['somebody of another workspace', { is_stranger: true }, 'stranger'],
    ['a deactivated account', { deleted: true }, 'deleted'],
    ['a deactivated guest', { deleted: true, is_restricted: true }, 'deleted'],
  ])('is by Slack’s own word %s', async (_, flags, standing) => {
    const { directory, users } = workspace()
    users.set('U0BEN00001', { ...ben, ...flags })

    expect(await directory.person('U0BEN00001')).toEqual({ userId: 'U0BEN00001', standing, teamId: 'T0NIMBUS01' })
  })

  it.each([
    ['does not answer', undefined],
    ['answers with something else', { name: 'ben' }],
  ])('is unknown while Slack %s, and is asked for again at once', async (_, answer) => {
    const { directory, users } = workspace()
    users.set('U0BEN00001', answer)

    const before = await directory.person('U0BEN00001')
    users.set('U0BEN00001', ben)
    const after = await directory.person('U0BEN00001')

    expect(before).toEqual({ userId: 'U0BEN00001', standing: 'unknown', teamId: undefined })
    expect(after.standing).toBe('member')
  })

  it('is remembered for a minute and no longer', async () => {
    const { directory, users, asked, pass } = workspace()
    users.set('U0BEN00001', ben)
    await directory.person('U0BEN00001')
    users.set('U0BEN00001', { ...ben, deleted: true })

    pass(59_999)
    const remembered = await directory.person('U0BEN00001')
    pass(1)
    const asks = await directory.person('U0BEN00001')

    expect([remembered.standing, asks.standing]).toEqual(['member', 'deleted'])
    expect(asked).toHaveLength(2)
  })

  it('is not remembered past a minute because Slack is away then', async () => {
    const { directory, users, pass } = workspace()
    users.set('U0BEN00001', ben)
    await directory.person('U0BEN00001')
    users.set('U0BEN00001', undefined)

    pass(60_000)

    expect((await directory.person('U0BEN00001')).standing).toBe('unknown')
  })
})

describe('the members of user groups', () => {
  it('are told for each group, and none of another group', async () => {
    const { directory, groups } = workspace()
    groups.set('S0ONCALL01', ['U0BEN00001', 'U0CHI00001'])
    groups.set('S0LEADS001', [])

    expect(await directory.members(['S0ONCALL01', 'S0LEADS001'])).toEqual(
      new Map([
        ['S0ONCALL01', new Set(['U0BEN00001', 'U0CHI00001'])],
        ['S0LEADS001', new Set()],
      ]),
    )
  })

  it('are unknown for the group that Slack does not tell of, and for no other', async () => {
    const { directory, groups } = workspace()
    groups.set('S0ONCALL01', ['U0BEN00001'])

    expect(await directory.members(['S0ONCALL01', 'S0GONE0001'])).toEqual(
      new Map<string, unknown>([
        ['S0ONCALL01', new Set(['U0BEN00001'])],
        ['S0GONE0001', 'unknown'],
      ]),
    )
  })

  it('are remembered for 15 s and no longer, so that a person who was taken out loses the right soon', async () => {
    const { directory, groups, asked, pass } = workspace()
    groups.set('S0ONCALL01', ['U0BEN00001'])
    await directory.members(['S0ONCALL01'])
    groups.set('S0ONCALL01', [])

    pass(14_999)
    const remembered = await directory.members(['S0ONCALL01'])
    pass(1)
    const asks = await directory.members(['S0ONCALL01'])

    expect([remembered, asks]).toEqual([new Map([['S0ONCALL01', new Set(['U0BEN00001'])]]), new Map([['S0ONCALL01', new Set()]])])
    expect(asked).toHaveLength(2)
  })

  it('are asked for again at once when Slack did not tell', async () => {
    const { directory, groups } = workspace()
    await directory.members(['S0ONCALL01'])
    groups.set('S0ONCALL01', ['U0BEN00001'])

    expect(await directory.members(['S0ONCALL01'])).toEqual(new Map([['S0ONCALL01', new Set(['U0BEN00001'])]]))
  })

  it('are not asked for where no group is named', async () => {
    const { directory, asked } = workspace()

    expect(await directory.members([])).toEqual(new Map())
    expect(asked).toEqual([])
  })
})
