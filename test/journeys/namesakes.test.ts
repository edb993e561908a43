import { describe, expect, test } from 'vitest'
import { addresses, withAddresses } from './evacuations.ts'
import { ops, people, startWorld, untilCard, untilShown } from './world.ts'

const ids = (text: string) => text.replaceAll(/sv_\w+/g, 'sv_…')

/** Starts a world in which two servers of one project have the target's name. */
async function startWithTwins() {
  const world = await startWorld(withAddresses(addresses(2)))
  const { data, movable, third } = world.accountApi.world
  const { elasticIp, target } = movable()
  const twin = data.servers.find(({ id }) => id === third(elasticIp.id).id)
  if (!twin) throw new Error('the stand-in has no third server')
  twin.hostname = target.hostname
  return { world, elasticIp, target, twin }
}
type Twins = Awaited<ReturnType<typeof startWithTwins>>

/** Types a command that names both, and chooses the twin. Returns the question and the request message. */
async function chooseTwin({ world, twin }: Twins, command: string, button: string) {
  await world.ada.command(command, { channel: ops })
  const choice = await untilShown(world.slack, people.ada, /Which one/)
  const blockId = String(choice.blocks?.find((block) => JSON.stringify(block).includes(twin.id))?.block_id)
  await world.ada.click(choice, button, { blockId })
  const card = await untilCard(world.slack, /needs approval from/)
  const replaced = await untilShown(world.slack, people.ada, /Request posted/)
  expect(replaced.ts).toBe(choice.ts)
  return { choice, card }
}

describe('several servers with the typed name', () => {
  test('are offered as a choice, and the Elastic IP is to move to the chosen one, with the reason that was typed', async () => {
    const twins = await startWithTwins()
    const { elasticIp, target, twin } = twins

    const typed = `/infra ip move ${elasticIp.address} ${target.hostname} because OPS-7`
    const { choice, card } = await chooseTwin(twins, typed, 'move-elastic-ip:this-one')

    expect(ids(choice.text)).toMatchInlineSnapshot(`
      "2 servers are called \`web-2\`. Which one should \`203.0.113.10\` move to?
      *\`web-2\`*  ·  \`sv_…\`
      Storefront, ASH  ·  198.51.100.22  ·  on
      *\`web-2\`*  ·  \`sv_…\`
      Storefront, ASH  ·  198.51.100.50  ·  on"
    `)
    expect(card.text).toContain(twin.id)
    expect(card.text).toContain('OPS-7')
  })

  test('are offered as the target of an evacuation', async () => {
    const twins = await startWithTwins()
    const { target, twin } = twins

    const { choice, card } = await chooseTwin(twins, `/infra evacuate web-1 ${target.hostname}`, 'evacuate-server:this-one')

    expect(ids(choice.text)).toMatchInlineSnapshot(`
      "2 servers are called \`web-2\`. Which one should the Elastic IPs of \`web-1\` move to?
      *\`web-2\`*  ·  \`sv_…\`
      Storefront, ASH  ·  198.51.100.22  ·  on
      *\`web-2\`*  ·  \`sv_…\`
      Storefront, ASH  ·  198.51.100.50  ·  on"
    `)
    expect(card.text).toContain(twin.id)
  })
})
