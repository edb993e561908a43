import { describe, expect, test } from 'vitest'
import { encodeFields } from '../../src/record/store.ts'
import { findElement } from '../sandbox/slack/elements.ts'
import { type Json, objectOf, textOf } from '../sandbox/slack/json.ts'
import { onlyRequest, startWorldUnder, writesOf } from './policy-world.ts'
import { ops, people, requestMove, untilCard, untilReport, untilShown } from './world.ts'

/** Returns the words of the dialog that Slack shows after a press on *Approve*. */
function dialogOf(blocks: Json[] = []): string | undefined {
  const dialog = findElement(blocks, 'Approve')?.element.confirm
  return dialog === undefined ? undefined : textOf(objectOf(dialog).text)
}

const usual = 'rules:\n  - { name: addresses, approve: [S0ONCALL01] }'

describe('what approvers should check first', () => {
  test('is repeated before the approval, which a person can still cancel, and in the report', async () => {
    const world = await startWorldUnder(usual)
    const { elasticIp, target } = world.accountApi.world.movable()
    const server = world.accountApi.world.data.servers.find(({ id }) => id === target.id)
    Object.assign(server ?? {}, { status: 'off', label: 'do not touch before the sale' })
    await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })
    const card = await untilCard(world.slack, /needs approval from/)

    const canceled = await world.ben.click(card, 'Approve', { confirm: 'deny' })
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Done/)

    expect(canceled.outcome).toBe('not-sent')
    expect(dialogOf(card.blocks)).toMatchInlineSnapshot(`
      "Move \`203.0.113.10\`: web-1 → web-2
      web-2 had status off. Addresses on it answer only once it is on.
      web-2 has the label “do not touch before the sale”."
    `)
    const off = "web-2 has status off. The address doesn't answer until the server is on."
    expect([report.text, (await untilCard(world.slack, /\*Done/)).text]).toEqual([
      expect.stringContaining(off),
      expect.stringContaining(off),
    ])
  })

  test('that is true only later, as of a target that went off since, stops the move', async () => {
    const world = await startWorldUnder(usual)
    const { target, card } = await requestMove(world)
    Object.assign(world.accountApi.world.data.servers.find(({ id }) => id === target.id) ?? {}, { status: 'off' })
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Canceled/)

    expect(report.text).toContain('Nothing was done. web-2 has status off now.')
    expect(writesOf(world)).toEqual([])
    expect(JSON.stringify((await untilCard(world.slack, /Canceled/)).blocks)).toContain('Request again')
  })

  test('is nothing for a usual move, so that one tap approves it, and the last change of the address is small print', async () => {
    const world = await startWorldUnder(usual)
    const { elasticIp, card } = await requestMove(world)
    expect(card.text).not.toContain('Check first')
    expect(dialogOf(card.blocks)).toBeUndefined()
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    await world.ben.command(`/infra ip move ${elasticIp.id} ${elasticIp.serverId}`, { channel: ops })
    const back = await untilCard(world.slack, /needs approval from/)

    expect(dialogOf(back.blocks)).toBeUndefined()
    expect(back.text).not.toContain('Check first')
    expect(JSON.stringify(back.blocks)).toMatch(/Last change at <!date.* by <.*\|@ada>: Move `203\.0\.113\.10`: web-1 → web-2\./)
  })

  test('is in a form where it began after a list was shown, whose dialog lacks it', async () => {
    const world = await startWorldUnder(usual)
    const { card } = await requestMove(world)
    await world.ben.command('/infra pending', { channel: ops })
    const list = await untilShown(world.slack, people.ben, /needs approval/)
    const { id } = await onlyRequest(world.records)
    const warned = { newWarnings: [{ code: 'rejected-before', at: Date.now(), by: people.chiara, reason: 'not now' }] }
    await world.records.redis.hset(world.records.keys.record(id), encodeFields(warned as never))
    await world.ben.click(list, 'Approve')
    const form = await world.slack.until(() => world.ben.topView(), { what: 'the form' })
    expect(JSON.stringify(form)).toMatch(/Check first.*not now/)
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
    await world.ben.submit()
    await untilReport(world.slack, card.ts, /Done/)
  })

  test('is in a form in place of a dialog, where a rule has emergency approvals, so that there is one question', async () => {
    const world = await startWorldUnder(usual.replace('}', ', self_approval: break-glass }'))
    const { elasticIp, target } = world.accountApi.world.movable()
    Object.assign(world.accountApi.world.data.servers.find(({ id }) => id === target.id) ?? {}, { status: 'off' })
    await world.ben.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })
    const card = await untilCard(world.slack, /needs approval from/)
    expect(dialogOf(card.blocks)).toBeUndefined()

    await world.ben.click(card, 'Approve')
    const own = await world.slack.until(() => world.ben.topView())
    expect([own.title, JSON.stringify(own).includes('web-2 had status off.')]).toEqual(['Emergency approval', true])
    await world.chiara.click(card, 'Approve')
    const form = await world.slack.until(() => world.chiara.topView())
    expect([form.title, JSON.stringify(form).includes('web-2 had status off.')]).toEqual(['Approve', true])
    await world.chiara.submit()
    await untilReport(world.slack, card.ts, /Done/)
  })
})
