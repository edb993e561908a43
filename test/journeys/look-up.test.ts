import { describe, expect, test } from 'vitest'
import type { Json } from '../sandbox/slack/json.ts'
import type { Message, OpenView } from '../sandbox/slack/slack.ts'
import { general, ops, people, startWorld, untilCard, untilReport, type World } from './world.ts'

const secret = 'C0SECRET01'
const shared = 'C0SHARED01'

interface Shown {
  text?: { text: string }
  accessory?: { text: { text: string } }
  elements?: { text: string }[]
}

/** Posts a message as Ben, and looks it up as Ada. Resolves once the result is shown. */
async function lookUp(world: World, text: string, { channel = ops, message = {} }: { channel?: string; message?: Json } = {}) {
  const posted = await world.ben.say(text, { channel })
  if (!posted) throw new Error('the message was not posted')
  await world.ada.messageShortcut(posted, 'look-up', { message })
  return { posted, shown: await untilLookedUp(world) }
}

async function untilLookedUp({ slack }: World): Promise<OpenView> {
  return slack.until(() => {
    const top = slack.as(people.ada).openViews().at(-1)
    return top && !JSON.stringify(top.view).includes('Searching this message') ? top : undefined
  })
}

/** Prints a view: each section with its button, and small print in brackets. */
function wordsOf({ view }: OpenView): string {
  return (view.blocks as Shown[])
    .map(({ text, accessory, elements }) =>
      text ? `${text.text}${accessory ? ` [${accessory.text.text}]` : ''}` : (elements ?? []).map((one) => `(${one.text})`).join(' '),
    )
    .join('\n')
}

async function untilForm({ slack }: World, words: string): Promise<OpenView> {
  return slack.until(() =>
    slack
      .as(people.ada)
      .openViews()
      .find((each) => JSON.stringify(each.view).includes(words)),
  )
}

describe('Look up in Lockkeeper', () => {
  test('shows what a message names, as it is now, to that person alone', async () => {
    const world = await startWorld()
    const { elasticIp, target } = world.accountApi.world.movable()
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    const card = await untilCard(world.slack, /203\.0\.113\.10/)
    const before = world.slack.messages(ops).length

    const { shown } = await lookUp(world, '203.0.113.10 does not answer, kafka-3 is quiet, and preview-1 is slow')

    expect(
      wordsOf(shown)
        .replaceAll(/(eip|sv|vm)_\w+/g, '$1_…')
        .replaceAll(/https:\S+\|/g, 'https://…|'),
    ).toMatchInlineSnapshot(`
      "*\`203.0.113.10\`*  Elastic IP, active
      On \`web-1\` (on)
      \`Storefront, ASH\`  \`eip_…\` [Move…]
      (Open request: Move \`203.0.113.10\`: \`web-1\` → \`web-2\`, waiting for approval  ·  requested by <@U0ADA00001>  ·  <https://…|Open the request>)

      *\`kafka-3\`*  server, off
      No Elastic IPs
      \`Data platform, ASH\`  \`192.0.2.23\`  \`sv_…\` [Evacuate…]

      *\`preview-1\`*  virtual machine, Running
      \`Storefront, ASH\`  \`192.0.2.110\`  \`vm_…\`"
    `)
    expect(JSON.stringify(shown.view)).toContain(elasticIp.id)
    expect(JSON.stringify(shown.view)).toContain(card.ts.replace('.', ''))
    expect(world.slack.messages(ops)).toHaveLength(before + 1)
    expect(world.slack.ephemerals(people.ada).filter(({ text }) => /203/.test(text) && /Elastic IP,/.test(text))).toEqual([])
    expect(world.ben.openViews()).toEqual([])
  })

  test('says what does not exist, and what could not be read', async () => {
    const world = await startWorld()
    const { elasticIp } = world.accountApi.world.movable()
    for (const path of ['/elastic_ips', `/elastic_ips/${elasticIp.id}`])
      world.accountApi.faults.add({ kind: 'status', path, status: 500, times: 100 })

    const { shown } = await lookUp(world, `sv_doesNotExist and ${elasticIp.id}`)

    expect(wordsOf(shown)).toContain('(Not found on the account: `sv_doesNotExist`.)')
    expect(wordsOf(shown)).toContain(`\`${elasticIp.id}\`: couldn't read this Elastic IP. Try again in a minute.`)
  })

  test('does not say that an address is missing if a list was not read', async () => {
    const world = await startWorld()
    world.accountApi.faults.add({ kind: 'status', path: '/virtual_machines', status: 500, times: 100 })

    const { shown } = await lookUp(world, '203.0.113.77')

    expect(wordsOf(shown)).toContain("Couldn't read every list of the account.")
    expect(wordsOf(shown)).not.toContain('Not found')
  })

  test('says that the account API does not answer, in place of a result', async () => {
    const world = await startWorld()
    await world.accountApi.close()

    const { shown } = await lookUp(world, '203.0.113.10')

    expect(wordsOf(shown)).toMatch(/account API/)
  })

  test('reads the account a limited number of times, however much a message names', async () => {
    const world = await startWorld()
    await lookUp(world, 'nothing')
    await world.ada.close()
    const before = world.accountApi.journal.length
    const ids = Array.from({ length: 500 }, (_, index) => `sv_${index} eip_${index} vm_${index}`).join(' ')

    const { shown } = await lookUp(world, `${ids} 203.0.113.10 web-1`)

    expect(world.accountApi.journal.length - before).toBeLessThanOrEqual(16 + 3)
    expect(wordsOf(shown)).toMatch(/The message names 14\d\d more\. Only the first 8 were looked up\./)
  })
})

describe('Move…', () => {
  test.each([
    ['web-2', true],
    ['kafka-3', false],
  ])('fills in %s from the message only if the address can move there: %s', async (server, isFilled) => {
    const world = await startWorld()
    const { shown } = await lookUp(world, `203.0.113.10 is unreachable, move it to ${server}`)

    await world.ada.click(shown, 'Move…')
    const form = await untilForm(world, '"callback_id":"move-elastic-ip"')

    expect(JSON.stringify(form.view).includes(`"${server}`)).toBe(isFilled)
  })

  test('opens the filled form, and the request links the message', async () => {
    const world = await startWorld()
    const { posted, shown } = await lookUp(world, '203.0.113.10 is unreachable, move it to web-2')

    await world.ada.click(shown, 'Move…')
    const form = await untilForm(world, '"callback_id":"move-elastic-ip"')
    expect(JSON.stringify(form.view)).toContain('203.0.113.10')
    await world.ada.submit()

    const card = await untilCard(world.slack, /Move 203\.0\.113\.10/)
    expect(card.text).toContain('web-2')
    const address = `https://nimbus-works.slack.com/archives/${ops}/p${posted.ts.replace('.', '')}`
    expect(JSON.stringify(card.blocks)).toContain(`<${address}|a message>`)
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
  })

  test('links a message of a private channel in that channel alone', async () => {
    const world = await startWorld()
    world.slack.workspace.channels.push({
      id: secret,
      name: 'secret',
      topic: '',
      isPrivate: true,
      members: [people.ada, people.ben, 'U0LOCKKEEP'],
    })
    const { posted, shown } = await lookUp(world, '203.0.113.10 to web-2', { channel: secret })
    const mark = posted.ts.replace('.', '')
    await world.ada.click(shown, 'Move…')
    await untilForm(world, '"callback_id":"move-elastic-ip"')
    await world.ada.submit()
    const card = await untilCard(world.slack, /Move 203\.0\.113\.10/, secret)
    expect(JSON.stringify(card.blocks)).toContain(mark)

    await world.chiara.openHome()
    await world.slack.until(() => /Needs your approval/.test(JSON.stringify(world.slack.home(people.chiara))))
    for (const command of ['/infra pending', '/infra moves', '/infra audit']) await world.chiara.command(command, { channel: ops })
    await world.slack.until(() => world.slack.ephemerals(people.chiara).length === 3)

    expect(JSON.stringify(world.slack.home(people.chiara))).not.toContain(mark)
    expect(JSON.stringify(world.slack.ephemerals(people.chiara))).not.toContain(mark)
  })

  test.each([
    ['a direct message', 'D0ADA00001', /direct message/],
    ['a channel without Lockkeeper', general, /I'm not in this channel/],
  ])('says why not: in %s', async (_, channel, words) => {
    const world = await startWorld()
    // The direct messages exist once Lockkeeper has used them.
    await world.ada.openHome()
    const speaker = channel.startsWith('D') ? world.ada : world.ben
    const posted = await speaker.say('203.0.113.10', { channel })
    await world.ada.messageShortcut(posted as Message, 'look-up')

    await world.ada.click(await untilLookedUp(world), 'Move…')

    const shown = await world.slack.until(() => (words.test(wordsOf(world.ada.topView())) ? world.ada.topView() : undefined))
    expect(shown.title).toBe('Not possible')
    expect(world.accountApi.journal.writes()).toEqual([])
  })

  test.each([
    ['no JSON', 'eip_1'],
    ['another version', '{"version":2,"id":"eip_1"}'],
    ['no id', '{"version":1}'],
  ])('does nothing for a value that no button has: %s', async (_, value) => {
    const world = await startWorld()
    const { shown } = await lookUp(world, '203.0.113.10')

    await world.ada.click(shown, 'Move…', { action: { value } })

    await world.slack.until(() => /out of date/.test(wordsOf(world.ada.topView())))
  })
})

describe('a message shortcut whose payload Slack would not send', () => {
  const payloadFor = (more: object) => ({
    type: 'message_action',
    callback_id: 'look-up',
    user: { id: people.ada, team_id: 'T0NIMBUS01' },
    team: { id: 'T0NIMBUS01' },
    channel: { id: ops },
    action_ts: `${Math.random()}`,
    ...more,
  })
  const send = ({ slack }: World, payload: object) => slack.sendRaw({ body: `payload=${encodeURIComponent(JSON.stringify(payload))}` })

  test.each<[string, object]>([
    ['no message', {}],
    ['a message that is null', { message: null }],
    ['a message without blocks', { message: { ts: '1795010400.000100' } }],
    ['blocks of another type', { message: { ts: 7, text: { a: 1 }, blocks: 'web-1', attachments: { 0: 'web-1' } } }],
    ['blocks that are null', { message: { text: null, blocks: [null, 7, []], attachments: [null] } }],
  ])('is answered as one that names nothing: %s', async (_, more) => {
    const world = await startWorld()
    const posted = await world.ben.say('x', { channel: ops })
    const { payload } = await world.ada.messageShortcut(posted as Message, 'unknown')

    expect((await send(world, { ...payloadFor(more), trigger_id: payload.trigger_id })).status).toBe(200)

    expect(wordsOf(await untilLookedUp(world))).toContain('This message names no Elastic IP')
  })

  test.each<[string, object]>([
    ['no channel', { channel: undefined }],
    ['a channel that is null', { channel: null }],
    ['a channel without an id', { channel: { name: 'ops' } }],
  ])('is acknowledged, and nothing is looked up: %s', async (_, more) => {
    const world = await startWorld()
    await expect.poll(() => world.accountApi.journal.length).toBeGreaterThan(0)
    const before = world.accountApi.journal.length

    expect((await send(world, payloadFor({ message: { text: '203.0.113.10' }, trigger_id: 't', ...more }))).status).toBe(200)

    expect(world.accountApi.journal).toHaveLength(before)
    expect(world.slack.calls('views.open')).toEqual([])
  })

  test('keeps its right to read in the channel that Slack names, whatever the message says', async () => {
    const world = await startWorld()
    world.slack.setPerson(people.ada, {})
    const message = { text: '203.0.113.10', channel: ops, channel_id: ops, ts: '1795010400.000100' }

    await send(world, payloadFor({ channel: { id: shared }, message, trigger_id: 't' }))

    await world.slack.until(() => world.slack.ephemerals(people.ada).some(({ text }) => /shared with another organization/.test(text)))
    expect(world.ada.openViews()).toEqual([])
  })
})
