import { expect, test } from 'vitest'
import { addresses, withAddresses } from './evacuations.ts'
import { ops, people, startWorld, untilCard, untilShown } from './world.ts'

test.each([
  ['a move', 'ip move 203.0.113.10 web-2', 'move-elastic-ip:this-one', 'Which one should `203.0.113.10` move to?'],
  ['an evacuation', 'evacuate web-1 web-2', 'evacuate-server:this-one', 'Which one should the Elastic IPs of web-1 move to?'],
])('several servers with the typed name are offered as a choice, and the reason stays: %s', async (_, command, button, question) => {
  const world = await startWorld(withAddresses(addresses(2)))
  const { data, movable, third } = world.accountApi.world
  const twin = data.servers.find(({ id }) => id === third(movable().elasticIp.id).id)
  if (!twin) throw new Error('the stand-in has no third server')
  twin.hostname = 'web-2'

  await world.ada.command(`/infra ${command} because OPS-7`, { channel: ops })
  const choice = await untilShown(world.slack, people.ada, /^2 servers are called web-2\./)
  const blockId = String(choice.blocks?.find((block) => JSON.stringify(block).includes(twin.id))?.block_id)
  await world.ada.click(choice, button, { blockId })

  const card = await untilCard(world.slack, /needs approval from/)
  expect(choice.text).toContain(question)
  expect(card.text).toContain(twin.id)
  expect(card.text).toContain('OPS-7')
  expect(card.text).toMatch(/Another server \(`sv_\w+`\) is also called web-2\./)
  expect((await untilShown(world.slack, people.ada, /Posted in|Recorded:/)).ts).toBe(choice.ts)
})

test('namesakes that do not fit are not offered: the only one that does is meant, and if none does, the check says why', async () => {
  const world = await startWorld(withAddresses(addresses(1)))
  await world.ada.command('/infra ip move 203.0.113.10 bastion-1', { channel: ops })
  await untilCard(world.slack, /Move 203\.0\.113\.10: web-1 → bastion-1/)

  const inFrankfurt = world.accountApi.world.data.elasticIps.find(({ site, status }) => site === 'FRA' && status === 'active')
  await world.ada.command(`/infra ip move ${inFrankfurt?.address} bastion-1`, { channel: ops })
  await untilShown(world.slack, people.ada, /bastion-1.*ASH.*FRA|FRA.*ASH/s)
})

test.each([26, 200])('a hostname counts in any case, also if the account finds it only as it is written: %i servers', async (count) => {
  const world = await startWorld(withAddresses(addresses(1)))
  const { data } = world.accountApi.world
  const [first] = data.servers
  if (!first) throw new Error('the stand-in has no servers')
  for (let index = data.servers.length; index < count; index += 1)
    data.servers.push({ ...structuredClone(first), id: `sv_more${index}`, hostname: `more-${index}` })
  // Lockkeeper then knows how long the list is.
  await world.ada.command('/infra servers', { channel: ops })
  await untilShown(world.slack, people.ada, /servers\*/)
  await world.ada.command('/infra ip move 203.0.113.10 WEB-2', { channel: ops })
  await untilCard(world.slack, /Move 203\.0\.113\.10: web-1 → web-2/)
})
