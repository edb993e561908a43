import { expect, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { approveMove, general, ops, people, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

const often = { ...usualTimings, graceMs: 600, unsettledMs: 600, accountWindowMs: 2_000, repeatMs: 500 }

/** The operators' channel is another one than that of the watches. */
async function start(env: Record<string, string> = {}) {
  const world = await startWorld({ timings: often, env: { OPS_CHANNEL: general, ...env } })
  world.slack.invite(general, 'U0LOCKKEEP')
  return world
}

const told = ({ slack }: World, channel: string, fits: RegExp) =>
  slack.messages(channel).filter(({ isBot, text }) => isBot && fits.test(text))

async function watch({ ada, slack }: World, words: string) {
  await ada.command(`/infra watch ${words}`, { channel: ops })
  return untilShown(slack, people.ada, new RegExp(`Watching .*${words.split(' ')[1]?.replaceAll('.', '\\.')}`))
}

test('a channel is told once of an address that somebody else moves, and not of one that Lockkeeper moves; operators are told, too', async () => {
  const world = await start({ WATCH_CHANGES: 'true' })
  const { elasticIp: moved } = await approveMove(world)
  const { elasticIp, target } = world.accountApi.world.movable(1)
  await watch(world, `ip ${moved.address}`)
  await watch(world, `ip ${elasticIp.address}`)
  const [card] = told(world, ops, /Moving|Done|Approved/)
  await untilReport(world.slack, card?.ts ?? '', /Done/)

  world.accountApi.world.moveByAnotherPerson(elasticIp.id, target.id)
  const found = await untilCard(world.slack, /outside Lockkeeper/)
  expect(found.text).toMatch(
    new RegExp(`:eyes: Elastic IP \`${elasticIp.address}\` moved from .+ to ${target.hostname} outside Lockkeeper\\.`),
  )
  expect(found.text).toMatch(/By `greta\.holm@nimbus\.example`\. <@U0ADA00001>$/)
  await untilCard(world.slack, new RegExp(`\\*Changed outside Lockkeeper\\*\n•  Elastic IP \`${elasticIp.address}\` moved`), general)

  const third = world.accountApi.world.third(moved.id)
  world.accountApi.world.moveBehindOurBack(moved.id, third.id)
  const later = await untilCard(world.slack, new RegExp(`${moved.address}.* to ${third.hostname} outside Lockkeeper\\. Author unknown`))
  expect(later.text).toContain('<@U0ADA00001>')
  expect(told(world, ops, /outside Lockkeeper/)).toHaveLength(2)
})

test('a plan that comes in stock is told once, and its watch is over', async () => {
  const world = await start()
  await watch(world, 'plan gpu.h100.4 in dal')
  const attributes = world.accountApi.world.data.plans.find(({ attributes: { name } }) => name === 'gpu.h100.4')?.attributes
  const regions = attributes?.regions as { locations: { available: string[]; in_stock: string[] } }[]
  for (const { locations } of regions) locations.in_stock = [...locations.available]

  await untilCard(world.slack, /Plan gpu\.h100\.4 is in stock in DAL\. This watch has ended\. <@U0ADA00001>/)
  await world.ada.command('/infra watches', { channel: ops })
  await untilShown(world.slack, people.ada, /You watch nothing/)
  await world.ada.command('/infra watch plan gpu.h100.4', { channel: ops })
  await untilShown(world.slack, people.ada, /is in stock in .*DAL.* now, so there is nothing to wait for/)
})

test('watches are listed and ended by those who have them, also on Home', async () => {
  const world = await start()
  const { ada, ben, slack } = world
  await watch(world, 'server web-1')
  await ada.command('/infra watch server web-1', { channel: ops })
  await untilShown(slack, people.ada, /You watch Server web-1 here already/)
  await watch(world, 'ip 203.0.113.10')

  await ada.command('/infra watches', { channel: ops })
  const list = await untilShown(slack, people.ada, /\*You watch 2 of at most 20\*/)
  expect(list.text).toContain('Server web-1: posts in <#C0OPS00001> until <!date')
  await ada.click(list, 'End')
  await slack.until(() => slack.ephemerals(people.ada).find(({ text }) => text.includes('You watch 1 of at most 20')))

  await ben.openHome()
  await slack.until(() => slack.home(people.ben))
  expect(JSON.stringify(slack.home(people.ben)?.blocks)).not.toContain('Your watches')
  await ada.openHome()
  const home = await slack.until(() =>
    JSON.stringify(slack.home(people.ada)?.blocks ?? []).includes('Your watches (1)') ? ada.home() : undefined,
  )
  await ada.click(home, 'End')
  await slack.until(() => !JSON.stringify(slack.home(people.ada)?.blocks).includes('Your watches'))
})

test('what cannot be watched is refused with the reason and the next step', async () => {
  const world = await start()
  const { ada, slack } = world
  const cases: [words: string, answer: RegExp][] = [
    ['ip 203.0.113.199', /No Elastic IP `203\.0\.113\.199`\./i],
    ['server', /Usage: `\/infra watch server &lt;server&gt;`/],
    ['plan gpu.h100.4 in LIS', /Site LIS doesn't offer this plan, so nothing is watched\. Sites that do: .*DAL/],
    ['plan vm.tiny', /Plan vm\.tiny is in stock in .* now/],
  ]
  for (const [words, answer] of cases) {
    await ada.command(`/infra watch ${words}`, { channel: ops })
    await untilShown(slack, people.ada, answer)
  }
})
