import { describe, expect, test } from 'vitest'
import type { OpenView } from '../sandbox/slack/slack.ts'
import { general, ops, people, sendPayload, startWorld, untilCard, type World } from './world.ts'

const shared = 'C0SHARED01'
const secret = 'C0SECRET01'
const absent = "I'm not in this channel. Run `/invite @Lockkeeper`, then try again."
const move = { 'Elastic IP': '203.0.113.10 on web-1', Server: 'web-2 (Storefront, ASH)' }

/** Adds a private channel. */
function addPrivateChannel({ slack }: World, members: string[]): void {
  slack.workspace.channels.push({ id: secret, name: 'secret', topic: '', isPrivate: true, members: [...members] })
}

/** Resolves once the form shows these words. */
async function untilForm({ slack }: World, person: string, words: string): Promise<OpenView> {
  return slack.until(() => {
    const top = slack.as(person).openViews().at(-1)
    return top && JSON.stringify(top.view).includes(words) ? top : undefined
  })
}

/** Submits the form that asks for a channel, with any value. */
async function choose(world: World, person: string, channel: string): Promise<unknown> {
  const { view } = await untilForm(world, person, 'Channel')
  const values = { channel: { channel: { type: 'conversations_select', selected_conversation: channel } } }
  return JSON.parse(await sendPayload(world, { type: 'view_submission', view: { ...view, state: { values } } }, person))
}

describe('where Lockkeeper is not in the channel', () => {
  test('a form says so before it is filled in, and an invitation helps at once', async () => {
    const world = await startWorld()
    addPrivateChannel(world, [people.ada])
    for (const channel of [secret, general]) {
      await world.ada.command('/infra ip move', { channel })
      expect((await untilForm(world, people.ada, absent)).view.submit).toBeNull()
      await world.ada.close()
    }

    await world.ada.say('/invite @lockkeeper', { channel: general })
    await world.ada.command('/infra ip move', { channel: general })
    await untilForm(world, people.ada, 'Elastic IP')
    await world.ada.fill(undefined, move)
    await world.ada.submit()
    await untilCard(world.slack, /203\.0\.113\.10/, general)
  })
})

describe('a form from where there is no channel', () => {
  test('asks for the channel first: the global shortcut, with the channel that the person is looking at, once for each delivery', async () => {
    const world = await startWorld()

    const delivery = await world.ada.globalShortcut('move-elastic-ip', { channel: ops })
    await world.ada.redeliver(delivery)
    await untilForm(world, people.ada, 'Channel')
    expect(world.slack.calls('views.open')).toHaveLength(1)
    await world.ada.submit()
    await untilForm(world, people.ada, 'Elastic IP')
    await world.ada.fill(undefined, move)
    await world.ada.submit()

    expect((await untilCard(world.slack, /Move 203\.0\.113\.10/)).text).toContain(`<@${people.ada}>`)
    expect(world.ada.topView()?.title).toBe('Request sent')
  })

  test('offers neither direct messages nor shared channels, nor private channels of others', async () => {
    const world = await startWorld()
    addPrivateChannel(world, [people.ben])

    await world.ada.globalShortcut('move-elastic-ip')
    await untilForm(world, people.ada, 'Channel')
    const { options } = await world.ada.search(undefined, 'Channel', '')

    expect(options.map(({ text }) => text.text)).toEqual(['#ops', '#general'])
    expect(JSON.stringify(world.ada.topView().view)).toContain(
      '"filter":{"include":["public","private"],"exclude_external_shared_channels":true,"exclude_bot_users":true}',
    )
  })

  test('says that Lockkeeper is not in the chosen channel, and goes on once it is', async () => {
    const world = await startWorld()
    await world.ada.globalShortcut('move-elastic-ip', { channel: general })
    await untilForm(world, people.ada, 'Channel')

    expect((await world.ada.submit()).errors).toEqual({ channel: absent.replaceAll('`', '') })
    world.slack.invite(general)
    await world.ada.submit()

    await untilForm(world, people.ada, 'Server')
  })

  test('refuses what no picker of Slack would have sent', async () => {
    const world = await startWorld({ env: { CHANNELS: `${ops},${shared}` } })
    world.slack.invite(general)
    await world.ada.globalShortcut('move-elastic-ip')

    for (const [channel, words] of [
      [shared, /another organization shares this channel/],
      [general, /No policy rule/],
      ['D0ADA00001', /Choose a channel/],
      ['everywhere', /Choose a channel/],
      ['C0NOWHERE1', /No policy rule|not in this channel/],
    ] as const) {
      const answer = JSON.stringify(await choose(world, people.ada, channel))
      expect(answer).toMatch(words)
      expect(answer).not.toContain('move-elastic-ip"')
    }
  })

  test('refuses a private channel that the person is not in, although its members may request there', async () => {
    const world = await startWorld({ env: { NO_APPROVAL: 'ip.move', CHANNELS: secret } })
    addPrivateChannel(world, [people.ben, 'U0LOCKKEEP'])
    await world.ada.globalShortcut('move-elastic-ip')
    await world.ben.globalShortcut('move-elastic-ip')

    expect(await choose(world, people.ada, secret)).toEqual({
      response_action: 'errors',
      errors: { channel: "Slack doesn't list you as a member of this channel. Use another one." },
    })
    expect(await choose(world, people.ben, secret)).toMatchObject({ response_action: 'update', view: { callback_id: 'move-elastic-ip' } })
  })
})
