import { describe, expect, test } from 'vitest'
import { finn, onlyRequest, restart, startWorldUnder } from './policy-world.ts'
import { ops, patchesOf, people, untilCard, untilShown } from './world.ts'

const hours = 3_600_000
const policy = 'rules:\n  - { name: moves, approve: [S0ONCALL01], self_approval: break-glass }'

/** Ada requests a move in two hours, and Ben approves it. */
async function startScheduled({ approve = true } = {}) {
  const world = await startWorldUnder(policy)
  const { elasticIp, target } = world.accountApi.world.movable()
  const command = `/infra ip move ${elasticIp.address} ${target.hostname}`
  await world.ada.command(`${command} in 2h because OPS-1`, { channel: ops })
  const card = await untilCard(world.slack, /needs approval from/)
  if (approve) {
    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /Approved\.\* Starts <!date/)
  }
  return { world, card, command, elasticIp }
}

interface Input {
  block_id?: string
  hint?: { text: string }
  element?: { initial_value?: string }
}

/** What the field *Start* of an open form has, and its hint. */
function startIn({ view }: { view: Record<string, unknown> }) {
  const field = (view.blocks as Input[]).find(({ block_id: id }) => id === 'start')
  return { start: field?.element?.initial_value, hint: field?.hint?.text }
}

describe('a change that is scheduled', () => {
  test('keeps its address: another move is refused with its link and start, and possible once it is withdrawn', async () => {
    const { world, card, command } = await startScheduled()
    for (const start of ['', ' in 3h']) await world.chiara.command(command + start, { channel: ops })
    const refused = await world.slack.until(() => {
      const shown = world.slack.ephemerals(people.chiara).filter(({ text }) => text.startsWith('Not requested'))
      return shown.length === 2 ? shown : undefined
    })
    for (const { text } of refused) {
      expect(text).toContain('(approved, starts <!date')
      expect(text).toContain(`/p${card.ts.replace('.', '')}|`)
      expect(text).toContain('Wait until it ends, or have it withdrawn by <@U0ADA00001> or an approver.')
    }
    expect(await world.records.all()).toHaveLength(1)

    await world.ben.click(world.slack.messages(ops).find(({ ts }) => ts === card.ts) ?? card, 'Withdraw')
    await untilCard(world.slack, /\*Withdrawn\*/)
    await world.chiara.command(command, { channel: ops })
    await world.ben.click(await untilCard(world.slack, /needs approval from/), 'Approve')
    await untilCard(world.slack, /\*Done\*/)
    expect(patchesOf(world)).toHaveLength(1)
  })

  test('is on Home once, and in the lists', async () => {
    const { world } = await startScheduled()
    const homeOf = async (user: string) => {
      await world.slack.as(user).openHome()
      const words = () => JSON.stringify(world.slack.home(user)?.blocks ?? [])
      await world.slack.until(() => words().includes('Updated'))
      return words()
    }
    const { ada, ben } = people
    const [own, approvers, others] = [await homeOf(ada), await homeOf(ben), await homeOf(finn)]
    for (const home of [own, approvers, others]) {
      expect(home).toContain('Scheduled (1)')
      expect(home).not.toMatch(/In progress|Your requests/)
      expect(home).toMatch(/Starts <!date\^\d+\^{time} {date_long_pretty}/)
    }
    const canWithdraw = [own, approvers, others].map((home) => home.includes('"Withdraw"'))
    expect(canWithdraw).toEqual([true, false, false])

    await world.chiara.command('/infra pending', { channel: ops })
    await untilShown(world.slack, people.chiara, /No requests need approval\. Scheduled or held: 1\./)
    await world.chiara.command('/infra moves', { channel: ops })
    await untilShown(world.slack, people.chiara, /Moves: 0 in progress, 1 scheduled/)
  })
})

describe('the field for the start', () => {
  test('has what was typed, if the form opens because something is missing, and names the zone once it is known', async () => {
    const world = await startWorldUnder('rules:\n  - { name: moves, approve: [S0ONCALL01], reason: required }')
    await world.ada.command('/infra ip move 203.0.113.10 in 2h because OPS-1', { channel: ops })
    const incomplete = await world.slack.until(() => world.ada.topView())
    expect(startIn(incomplete)).toMatchObject({ start: 'in 2h' })
    await world.ada.close()

    await world.ada.command('/infra ip move 203.0.113.10 web-2 in 2h', { channel: ops })
    const withoutReason = await world.slack.until(() => world.ada.topView())
    const hint = 'Such as 22:00, tomorrow 06:00 or in 2h (Europe/Berlin). Leave empty to start at once.'
    expect(startIn(withoutReason)).toEqual({ start: 'in 2h', hint })
    await world.ada.fill(withoutReason, { Reason: 'OPS-1' })
    await world.ada.submit()

    expect((await untilCard(world.slack, /needs approval from/)).text).toMatch(/\*Starts <!date/)
  })

  test('has the start again in *Request again*, and is empty once that is past', async () => {
    const { world, card } = await startScheduled({ approve: false })
    const { id, start = 0 } = await onlyRequest(world.records)
    await world.ada.click(card, 'Withdraw')
    const withdrawn = await untilCard(world.slack, /\*Withdrawn\*/)

    await world.ada.click(withdrawn, 'Request again')
    const again = await world.slack.until(() => world.ada.topView())
    expect(startIn(again).start).toBe(`${new Date(start).toISOString().slice(0, 16).replace('T', ' ')} UTC`)
    await world.ada.submit()
    await untilCard(world.slack, /needs approval from/)
    const [first, second] = (await world.records.all()).toSorted((one, other) => one.createdAt - other.createdAt)
    expect([first?.id, second?.start]).toEqual([id, Math.floor(start / 60_000) * 60_000])

    await restart(world, () => world.records.shiftTimes(second?.id ?? '', 3 * hours))
    await world.ada.click(await untilCard(world.slack, /\*Expired\*/), 'Request again')
    expect(startIn(await world.slack.until(() => world.ada.topView())).start).toBeUndefined()
  })
})
