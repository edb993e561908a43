import type { KnownBlock } from '@slack/web-api'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeKeyName } from '../../src/domain/account.ts'
import { changeKinds } from '../../src/features/index.ts'
import { seal } from '../../src/redis/sealed.ts'
import { unconnectedFeatures } from '../sandbox/features.ts'
import { startWorldUnder } from './policy-world.ts'
import { openRecords } from './records.ts'
import { ops, people, requestMove, shareWorld, startWorld, untilShown, type World } from './world.ts'

const commands = unconnectedFeatures().flatMap((feature) => feature.commands)
const examplesOf = (fits: (need: string) => boolean) =>
  commands.filter(({ need }) => fits(need)).flatMap(({ words, examples }) => examples.map((one) => `${words} ${one}`))

/** Types a command, and returns the message that only Ada sees. */
async function answerTo({ ada, slack }: World, text: string): Promise<string> {
  const before = slack.ephemerals(people.ada).length
  await ada.command(`/infra ${text}`, { channel: ops })
  return (await slack.until(() => slack.ephemerals(people.ada)[before], { what: `an answer to ${text}` })).text
}

/** Types a command, and returns the form that it opens. */
async function openForm(world: World, text: string) {
  for (const open of world.ada.openViews()) await world.ada.close(open)
  await world.ada.command(`/infra ${text}`, { channel: ops })
  return world.slack.until(() => world.ada.topView(), { what: `a form for ${text}` })
}

/** Returns the preset values of a form by block id, and what stands above its fields. */
function contentOf({ view }: Awaited<ReturnType<typeof openForm>>) {
  const blocks = view.blocks as KnownBlock[]
  const inputs = blocks.flatMap((block) => (block.type === 'input' ? [block] : []))
  const presets = inputs.flatMap(({ block_id, element }) => {
    const { initial_option, initial_value } = element as { initial_option?: { text: { text: string } }; initial_value?: string }
    const preset = initial_option?.text.text ?? initial_value
    return preset === undefined ? [] : [[block_id, preset]]
  })
  const above = blocks.flatMap((block) => (block.type === 'section' ? [(block as { text: { text: string } }).text.text] : []))
  return { presets: Object.fromEntries(presets), above: above.join('\n') }
}

describe('an example of the help works in the sandbox', () => {
  test.each(examplesOf((need) => changeKinds.includes(need)))('%s', async (example) => {
    const world = await startWorld({ env: { STATE_KEY: 'a-state-key-of-tests-that-is-long-enough' } })
    // For the examples of keys that end.
    const [key] = world.accountApi.world.data.apiKeys.filter(({ name }) => name === 'grafana read')
    const named = { label: 'ci-deploy', requester: people.ada, request: '1f2e3d4c5b6a' }
    if (key && /extend|keeping/.test(example)) {
      const soon = Math.ceil(Date.now() / 60_000) * 60_000 + 24 * 3_600_000
      key.name = writeKeyName({ ...named, end: soon })
      const end = { ...named, keyId: key.id, createdAt: key.createdAt, end: soon, since: key.createdAt }
      const { redis, keys } = openRecords(world)
      await redis.hset(keys.keyEnds, key.id, seal(world.recordKeyring, 'key-end', end))
    }

    await world.ada.command(`/infra ${example}`, { channel: ops })

    const came = await world.slack.until(
      () => world.ada.openViews()[0]?.title ?? world.slack.messages(ops).at(-1)?.text ?? world.slack.ephemerals(people.ada).at(-1)?.text,
    )
    expect(came).toMatch(/needs approval from|^Move an Elastic IP$|^Rename a virtual machine$|^Evacuate a server$/)
  })

  describe('while a request waits', () => {
    const current = shareWorld()
    beforeAll(() => requestMove(current()))

    test.each(examplesOf((need) => need === 'read'))('%s', async (example) => {
      const shown = await answerTo(current(), example)

      expect(shown).toMatch(/[1-9]/)
      expect(shown).not.toMatch(/^\*0|None of|No entry|No /)
    })
  })
})

describe('an incomplete command', () => {
  const current = shareWorld()

  test.each([
    ['ip move', {}],
    ['ip move 203.0.113.10', { elasticIpId: '203.0.113.10 on web-1' }],
    ['ip move `203.0.113.10`,', { elasticIpId: '203.0.113.10 on web-1' }],
    ['ip move 203.0.113.10 to', { elasticIpId: '203.0.113.10 on web-1' }],
    ['vm rename preview-1', { virtualMachineId: 'preview-1 (Storefront, ASH)' }],
    ['keys revoke', {}],
  ])('opens the form filled with what was given: %s', async (text, presets) => {
    const form = await openForm(current(), text)

    expect(contentOf(form)).toEqual({ presets, above: '' })
  })

  test('opens the form empty, and says why, if the account API is slow', async () => {
    const world = await startWorld()
    world.accountApi.faults.add({ path: '/elastic_ips', kind: 'delay', delayMs: 5_000 })

    const { presets, above } = contentOf(await openForm(world, 'ip move 203.0.113.10'))

    expect(presets).toEqual({})
    expect(above).toContain("Couldn't look up `203.0.113.10` in time. Choose it below.")
  })
})

describe('a time after because', () => {
  const current = shareWorld({ env: { STATE_KEY: 'a-state-key-of-tests-that-is-long-enough' } })
  const moved = (late: string, field: string) => `:warning: You typed \`${late}\` after \`because\`: it is in *${field}* now. Check it.`

  test.each([
    ['ip move 203.0.113.10 web-2 because OPS-9 in 2h', { start: 'in 2h', reason: 'OPS-9' }],
    ['ip move 203.0.113.10 web-2 because later, at 22:00.', { start: 'at 22:00', reason: 'later' }],
    ['ip move 203.0.113.10 web-2 because later at Dec 10 18:00', { start: 'at Dec 10 18:00', reason: 'later' }],
    ['ip move 203.0.113.10 web-2 because tomorrow at 6am', { start: 'tomorrow at 6am' }],
    ['vm rename preview-1 "preview 2" because “the name is wrong” in 2h', { start: 'in 2h', reason: 'the name is wrong' }],
    ['keys revoke laptop of ada because it was lost in 90 minutes', { start: 'in 90 minutes', reason: 'it was lost' }],
  ])('opens the form of a change that it would have started at once: %s', async (text, entered) => {
    const world = current()
    const form = await openForm(world, text)

    const { presets, above } = contentOf(form)
    expect(presets).toMatchObject(entered)
    expect('reason' in presets).toBe('reason' in entered)
    expect(Object.keys(presets).length).toBeGreaterThan(Object.keys(entered).length)
    expect(above).toBe(moved(entered.start, 'Start'))
    expect(world.slack.messages(ops)).toEqual([])
  })

  test('is in the form, too, if the command was mistyped', async () => {
    const world = current()
    await answerTo(world, 'ip mvoe 203.0.113.10 web-2 because OPS-9 in 2h')
    for (const open of world.ada.openViews()) await world.ada.close(open)
    await world.ada.click(await untilShown(world.slack, people.ada, /Did you mean/), 'Move IP')
    const { presets, above } = contentOf(await world.slack.until(() => world.ada.topView()))

    expect(presets).toMatchObject({ start: 'in 2h', reason: 'OPS-9' })
    expect(above).toBe(moved('in 2h', 'Start'))
  })

  test.each([
    [
      'keys create ci because of a pipeline for 30d',
      /after `because`\. Write it before: `\/infra keys create ci for 30d because a pipeline`/,
    ],
    ['keys create "ci 2" because of a pipeline until 2099-12-24', /`\/infra keys create "ci 2" until 2099-12-24 because a pipeline`/],
    ['keys extend ci-deploy because of a pipeline for 30d', /`\/infra keys extend ci-deploy for 30d because a pipeline`/],
    [
      'keys rotate terraform because it leaked keeping the old one for 1d',
      /`\/infra keys rotate terraform keeping the old one for 1d because it leaked`/,
    ],
  ])('is refused where no form has a field for it: %s', async (text, words) => {
    expect(await answerTo(current(), text)).toMatch(words)
    expect(current().slack.messages(ops)).toEqual([])
  })
})

test.each([
  'at 23:00 because it fails in 2h',
  'because of OPS-22:00',
  'because "OPS-9 in 2h"',
  'because it is broken since 22:00',
  'because web-1 fails in 2h again',
])('a reason keeps its time: %s', async (end) => {
  const world = await startWorld()
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname} ${end}`, { channel: ops })

  const card = await world.slack.until(() => world.slack.messages(ops).at(-1), { what: 'the request' })
  expect(card.text).toContain(end.replace(/^.*because (?:of )?/, '').replaceAll('"', ''))
  expect(world.ada.openViews()).toEqual([])
})

test("Lockkeeper's operators are named with their channel in answers, and in a form that is refused", async () => {
  const named = `ockkeeper's operators (<#${ops}>)`
  const world = await startWorldUnder('rules: [{ name: staging, changes: [vm.rename], request: everyone, approve: [S0ONCALL01] }]', {
    env: { OPS_CHANNEL: ops },
  })

  await world.ada.command('/infra ip move 203.0.113.10 web-2', { channel: ops })
  expect((await untilShown(world.slack, people.ada, /No policy rule allows/)).text).toContain(named)
  await world.ada.command('/infra ip move', { channel: ops })
  await world.slack.until(() => JSON.stringify(world.ada.topView().view.blocks).includes(named))
})
