import { describe, expect, test } from 'vitest'
import { finn, onlyRequest, startWorldUnder, writesOf } from './policy-world.ts'
import { wordsOf } from './subject.ts'
import { people, requestMove, untilCard, untilReport, untilShown } from './world.ts'

describe('more than one approval', () => {
  test('is counted on the card and in the answer to each approver, and the last one starts the change', async () => {
    const world = await startWorldUnder(`rules:\n  - { name: addresses, approve: { any_of: [S0ONCALL01, ${finn}], approvals: 3 } }`)
    const { card } = await requestMove(world)

    await world.ben.click(card, 'Approve')
    const first = await untilShown(world.slack, people.ben, /Approved \(/)
    await world.chiara.click(card, 'Approve')
    const second = await untilShown(world.slack, people.chiara, /Approved \(/)
    await world.chiara.click(card, 'Approve')
    const again = await untilShown(world.slack, people.chiara, /already/)
    const counted = await untilCard(world.slack, /2 of 3 approvals/)
    expect(writesOf(world)).toEqual([])
    await world.finn.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect([first, second, again].map(wordsOf)).toEqual([
      'Approved (1 of 3). 2 more needed.',
      'Approved (2 of 3). One more needed.',
      'You already approved this, so nothing changed. One more needed.',
    ])
    expect(counted.text).toMatch(/\*2 of 3 approvals\*: <@U0BEN00001>, .*; <@U0CHI00001>/)
    const done = await untilCard(world.slack, /\*Done/)
    expect(done.text).toContain(`approved by <@${people.ben}>, <@${people.chiara}> and <@${finn}>`)
    expect(writesOf(world)).toHaveLength(1)
    const decisions = (await world.records.audit()).filter(({ act }) => act === 'count-approval' || act === 'approve')
    expect(decisions).toMatchObject([
      { by: people.ben, rule: 'addresses', via: 'S0ONCALL01', to: 'waiting', missing: 2, needed: 3 },
      { by: people.chiara, rule: 'addresses', via: 'S0ONCALL01', to: 'waiting', missing: 1, needed: 3 },
      { by: finn, rule: 'addresses', via: finn, to: 'approved' },
    ])
  })
})

describe('break-glass', () => {
  const policy = `
rules:
  - name: addresses
    changes: ip.move
    approve: { any_of: [S0ONCALL01], approvals: 2 }
    self_approval: break-glass
`

  /** Ben presses *Approve* on his own request. */
  async function startEmergency() {
    const world = await startWorldUnder(policy)
    const { card } = await requestMove(world, { by: world.ben })
    await world.ben.click(card, 'Approve')
    return { world, card, form: await world.slack.until(() => world.ben.topView()) }
  }

  test('takes a reason and a second confirmation, is posted to the channel, and is in the audit', async () => {
    const { world, card, form } = await startEmergency()
    expect(form.title).toBe('Emergency approval')
    await world.ben.fill(form, { Reason: 'The site is down', Confirm: '' })
    expect((await world.ben.submit()).errors).toEqual({ confirmed: 'Tick this to approve your own request.' })
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })

    await world.ben.fill(form, { Confirm: 'I approve my own request' })
    expect((await world.ben.submit()).errors).toBeUndefined()
    await untilReport(world.slack, card.ts, /Done/)

    const report = await untilReport(world.slack, card.ts, /Emergency approval/)
    expect(report.text).toMatch(
      /<!subteam\^S0ONCALL01>: <[^|]*\/team\/U0BEN00001\|@ben> approved their own request “.*Check it now\.\nReason: `The site is down`/,
    )
    const [post] = world.slack.calls('chat.postMessage').filter(({ args }) => /Emergency approval/.test(String(args.text)))
    expect(String(post?.args.reply_broadcast)).toBe('true')
    expect((await untilCard(world.slack, /\*Done/)).text).toContain('*Emergency approval* by <@U0BEN00001>')
    const [entry] = (await world.records.audit()).filter(({ act }) => act === 'break-glass')
    expect(entry).toMatchObject({ by: people.ben, reason: 'The site is down', to: 'approved', rule: 'addresses', via: 'S0ONCALL01' })
    expect(writesOf(world)).toHaveLength(1)
  })
})
