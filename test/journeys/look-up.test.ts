import { describe, expect, test } from 'vitest'
import type { Json } from '../sandbox/slack/json.ts'
import type { OpenView } from '../sandbox/slack/slack.ts'
import { ops, people, requestMove, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

const secret = 'C0SECRET01'

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

async function untilForm({ slack }: World): Promise<OpenView> {
  const views = () => slack.as(people.ada).openViews()
  return slack.until(() => views().find((each) => JSON.stringify(each.view).includes('"callback_id":"move-elastic-ip"')))
}

describe('Look up in Lockkeeper', () => {
  test('shows what a message names, as it is now, to that person alone', async () => {
    const world = await startWorld()
    await requestMove(world)
    const before = world.slack.messages(ops).length

    const { shown } = await lookUp(world, '203.0.113.10 does not answer, kafka-3 is quiet, and preview-1 is slow')

    expect(
      wordsOf(shown)
        .replaceAll(/(eip|sv|vm)_\w+/g, '$1_…')
        .replaceAll(/<!date[^>]*>/g, '<!date…')
        .replaceAll(/https:\S+\|/g, 'https://…|'),
    ).toMatchInlineSnapshot(`
      "*\`203.0.113.10\`*  Elastic IP, active
      On web-1 (on)
      Storefront  ·  ASH  ·  \`eip_…\` [Move…]
      (Open request: Move \`203.0.113.10\`: web-1 → web-2, waiting for approval  ·  by <@U0ADA00001>, <!date…  ·  <https://…|Open>)

      *kafka-3*  server, off
      No Elastic IPs shown
      Data platform  ·  ASH  ·  \`192.0.2.23\`  ·  \`sv_…\`

      *preview-1*  virtual machine, Running
      Storefront  ·  ASH  ·  \`192.0.2.110\`  ·  \`vm_…\`"
    `)
    expect(world.slack.messages(ops)).toHaveLength(before + 1)
    expect(world.ben.openViews()).toEqual([])
  })

  test('reads the account again if its list is older than a request that it shows', async () => {
    const world = await startWorld()
    const { elasticIp, target } = world.accountApi.world.movable()
    const third = world.accountApi.world.third(elasticIp.id)
    await world.ada.command(`/infra ${elasticIp.address}`, { channel: ops })
    await untilShown(world.slack, people.ada, /On web-1 \(on\)/)
    world.accountApi.world.moveBehindOurBack(elasticIp.id, third.id)
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    await untilCard(world.slack, new RegExp(`${third.hostname} → ${target.hostname}`))
    const reads = () => world.accountApi.journal.filter(({ path }) => path.startsWith('/elastic_ips?')).length

    await world.ben.command(`/infra ${elasticIp.address}`, { channel: ops })
    await untilShown(world.slack, people.ben, new RegExp(`On ${third.hostname} [\\s\\S]*Open request: .*${third.hostname} → `))
    const before = reads()
    await world.chiara.command(`/infra ${elasticIp.address}`, { channel: ops })
    await untilShown(world.slack, people.chiara, new RegExp(`On ${third.hostname} `))
    expect(reads()).toBe(before)
  })

  test('shows the request that a message names, and the last change of both servers of a move', async () => {
    const world = await startWorld()
    const { card } = await requestMove(world)
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
    const [id = ''] = /\b[\da-f]{8}\b/.exec(JSON.stringify(card.blocks)) ?? []

    const { shown } = await lookUp(world, `see ${id}, and web-1, web-2`)

    const words = wordsOf(shown)
    expect(words).toContain(`Request ${id}: Move`)
    await world.ada.command('/infra web-2', { channel: ops })
    await untilShown(world.slack, people.ada, /Last change: Move `203\.0\.113\.10`: web-1 → web-2, done/)
  })

  test('says that it could not read a list instead of that an address is no command', async () => {
    const world = await startWorld()
    world.accountApi.faults.add({ method: 'GET', kind: 'status', status: 502, times: 100, path: /elastic_ips/ })

    await world.ada.command('/infra 203.0.113.99', { channel: ops })

    await untilShown(world.slack, people.ada, /Couldn't read every list of the account, so `203\.0\.113\.99` wasn't found/)
  })

  test('reads the account a limited number of times, however much a message names', async () => {
    const world = await startWorld()
    await lookUp(world, 'nothing')
    await world.ada.close()
    const before = world.accountApi.journal.length
    const ids = Array.from({ length: 500 }, (_, index) => `sv_${index} eip_${index} vm_${index}`).join(' ')

    const { shown } = await lookUp(world, `${ids} 203.0.113.10 web-1`)

    expect(world.accountApi.journal.length - before).toBeLessThanOrEqual(3)
    expect(wordsOf(shown)).toMatch(/\*`203\.0\.113\.10`\*[\s\S]*\*web-1\*/)
  })
})

describe('Move…', () => {
  test('opens the form, filled with the address, and the request links the message', async () => {
    const world = await startWorld()
    const { posted, shown } = await lookUp(world, '203.0.113.10 is unreachable, move it to web-2')
    await world.ada.click(shown, 'Move…')
    expect(JSON.stringify((await untilForm(world)).view)).toContain('203.0.113.10')
    await world.ada.fill(undefined, { Server: 'web-2 (Storefront, ASH)' })
    await world.ada.submit()

    const card = await untilCard(world.slack, /Move 203\.0\.113\.10: web-1 → web-2/)
    const address = `https://nimbus-works.slack.com/archives/${ops}/p${posted.ts.replace('.', '')}`
    expect(JSON.stringify(card.blocks)).toContain(`<${address}|a message>`)
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
  })

  test('links a message of a private channel in that channel alone', async () => {
    const world = await startWorld()
    const members = [people.ada, people.ben, 'U0LOCKKEEP']
    world.slack.workspace.channels.push({ id: secret, name: 'secret', topic: '', isPrivate: true, members })
    const { posted, shown } = await lookUp(world, '203.0.113.10 to web-2', { channel: secret })
    const mark = posted.ts.replace('.', '')
    await world.ada.click(shown, 'Move…')
    await untilForm(world)
    await world.ada.fill(undefined, { Server: 'web-2 (Storefront, ASH)' })
    await world.ada.submit()
    const card = await untilCard(world.slack, /Move 203\.0\.113\.10/, secret)
    expect(JSON.stringify(card.blocks)).toContain(mark)

    await world.chiara.openHome()
    await world.slack.until(() => /Needs your approval/.test(JSON.stringify(world.slack.home(people.chiara))))
    for (const command of ['/infra pending', '/infra moves', '/infra audit']) await world.chiara.command(command, { channel: ops })
    await world.slack.until(() => world.slack.ephemerals(people.chiara).length === 3)

    expect(JSON.stringify([world.slack.home(people.chiara), world.slack.ephemerals(people.chiara)])).not.toContain(mark)
  })
})
