import { describe, expect, test } from 'vitest'
import { people, startWorld, untilCard, untilReport } from '../journeys/world.ts'

const secret = 'C0SECRET01'
const refused = "Slack doesn't list you as a member of this channel."

/** Starts a bot whose moves need no approval in a private channel, and Ada, who moves an address there and is then removed from the channel. */
async function startAfterRemoval({ isOpen = false } = {}) {
  const world = await startWorld({ env: { NO_APPROVAL: 'ip.move', CHANNELS: secret } })
  world.slack.workspace.channels.push({ id: secret, name: 'secret', topic: '', isPrivate: true, members: [people.ada, 'U0LOCKKEEP'] })
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: secret })
  const card = await untilCard(world.slack, /Move/, secret)
  await untilReport(world.slack, card.ts, /Done/, secret)
  if (isOpen) {
    const moved = await untilCard(world.slack, /\*Done\*/, secret)
    await world.ada.click(moved, 'Move back')
    await world.slack.until(() => world.ada.topView())
  }
  world.slack.leave(secret, people.ada)
  return world
}

describe('somebody who was removed from a private channel, in which changes need no approval', () => {
  test('requests one from the Home tab, which still shows their requests', async () => {
    const world = await startAfterRemoval()
    await world.ada.openHome()
    const home = await world.slack.until(() => world.ada.home())

    await world.ada.click(home, 'Move back')
    const shown = await world.slack.until(() => world.ada.topView())

    expect(JSON.stringify(shown.view)).toContain(refused)
    expect(shown.view.submit).toBeNull()
    expect(world.accountApi.journal.writes()).toHaveLength(1)
  })

  test('sends a form that was opened before', async () => {
    const world = await startAfterRemoval({ isOpen: true })

    const { errors } = await world.ada.submit()

    expect(JSON.stringify(errors)).toContain(refused)
    expect(world.accountApi.journal.writes()).toHaveLength(1)
  })
})
