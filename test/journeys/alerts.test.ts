import { describe, expect, test } from 'vitest'
import { type AlertWorld, alert, policy, post, resolved, startAlertWorld, untilProposed } from './alerts-world.ts'
import { addresses, requestEvacuation, withAddresses } from './evacuations.ts'
import { freeze } from './freeze-world.ts'
import { wordsOf } from './subject.ts'
import { approveHeld, approveMove, general, ops, opsPage, people, requestMove, untilCard, untilReport, untilShown } from './world.ts'

const botMessages = ({ slack }: AlertWorld, channel = ops) => slack.messages(channel).filter(({ isBot }) => isBot)

const moves = ({ accountApi }: AlertWorld) => accountApi.journal.writes().filter(({ method }) => method === 'PATCH')

describe('a firing alert', () => {
  test('proposes to evacuate its server, and people approve it', async () => {
    const world = await startAlertWorld()

    expect(await world.send([alert()])).toBe(200)
    const card = await untilProposed(world)

    expect(card.text).toMatch(
      /^🚨 web-1:9100 is down \(NodeDown.*\)\. Evacuate .* → .*\?\nAlertmanager needs approval from <!subteam\^S0ONCALL01>/,
    )
    expect(card.text).toContain('Alert NodeDown, <http://prometheus.example.com:9090/graph?g0.expr=up+%3D%3D+0&amp;g0.tab=1|open it>')
    expect(JSON.stringify(card.blocks)).not.toContain('Withdraw')
    await world.ben.command('/infra pending', { channel: ops })
    expect((await untilShown(world.slack, people.ben, /Alertmanager/)).text).not.toMatch(/`alerts`|@alerts/)
    await world.ben.click(card, 'Approve')
    expect((await untilReport(world.slack, card.ts, /Done/)).text).toMatch(/^<@U0BEN00001> :large_green_circle: \*Done\.\*/)
    expect((await untilCard(world.slack, /\*Done\*/)).text).toContain('Alertmanager, approved by <@U0BEN00001>')
    await world.ben.command('/infra audit', { channel: ops })
    await untilShown(world.slack, people.ben, /Done.*Alertmanager/s)
    // The alert still fires, and nothing more follows.
    expect(await world.send([alert()])).toBe(200)
    expect(botMessages(world)).toHaveLength(1)
    expect(moves(world)).toHaveLength(1)
  })

  test('whose summary has no match of the pattern that the rule requires leads to no request, and the channel reads why', async () => {
    const world = await startAlertWorld({}, policy.replace('reason: required', "reason: {pattern: 'INC-\\d+'}"))
    await world.send([alert()])

    await expect.poll(() => botMessages(world).length).toBe(1)
    const why = 'The rule “failover” requires a reason with a match of `INC-\\d+`.'
    expect(botMessages(world)[0]?.text).toMatch(/\n• {2}`web-1:9100 is down \(NodeDown.*\)`\. The rule/)
    expect(botMessages(world)[0]?.text).toContain(why)
    expect(await world.records.all()).toEqual([])
    expect(await opsPage(world)).toContain('lockkeeper_alerts_total{outcome="refused"} 1\n')

    await world.send([alert({ instance: 'edge-fra-1' }, { annotations: { summary: 'INC-7: edge-fra-1 is down' } })])
    await untilProposed(world, 'edge-fra-1')
  })

  test('that is refused again and again notifies the operators once, and is counted each time', async () => {
    const world = await startAlertWorld({ env: { OPS_CHANNEL: general } })
    world.slack.invite(general)
    const [bot = {}] = world.bots
    const refused = {
      'wrong-token': { body: '{}', token: 'Bearer x' },
      unreadable: { body: 'no JSON' },
      'too-large': { body: 'x'.repeat(1_100_000) },
    }

    for (const { body, ...more } of Object.values(refused)) {
      const statuses = await Promise.all([1, 2, 3].map(() => post(bot, body, 'token' in more ? { authorization: more.token } : {})))
      expect(new Set(statuses).size).toBe(1)
    }

    await expect.poll(() => botMessages(world, general).length).toBe(3)
    expect(botMessages(world, general).map(({ text }) => text.split('. ')[0])).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/ALERTS_TOKEN/),
        expect.stringMatching(/more than 1 MB/),
        expect.stringMatching(/could not be read/),
      ]),
    )
    const metrics = await opsPage(world)
    for (const reason of Object.keys(refused)) expect(metrics).toContain(`lockkeeper_alerts_refused_total{reason="${reason}"} 3\n`)
  })
})

describe('addresses that another request has locked', () => {
  test('are left out and listed with it, and the free ones are requested', async () => {
    const world = await startAlertWorld()
    await world.ada.command('/infra ip move 203.0.113.12 web-3', { channel: ops })
    await untilCard(world.slack, /203\.0\.113\.12/)

    expect(await world.send([alert({ instance: 'edge-ash-1' })])).toBe(200)

    const card = await untilProposed(world, 'edge-ash-1')
    await world.ben.command('/infra pending', { channel: ops })
    const list = await untilShown(world.slack, people.ben, /need approval/)
    expect(JSON.stringify(list.blocks)).toMatch(/Alert: .*NodeDown/)
    expect(card.text).toMatch(
      /Check first\*.*\n• {2}1 left out when this was requested: .?203\.0\.113\.12.? has an open request: “<https:[^|]+\|Move [^>]+>” by <https:[^|]+[^.]+\. To move an address now, approve its request, and press \*Start now\* if it is scheduled, or withdraw it\./,
    )
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Done/)
    expect(report.text).toMatch(
      /Left out at the request: .?203\.0\.113\.12.? has an open request: “<https:[^|]+\|Move [^>]+>” by <https:[^|]+\|@ada>\./,
    )
    expect(moves(world)).toHaveLength(1)
    await untilCard(world.slack, /\*Done\* {2}· {2}Evacuate edge-ash-1 → .*\. 1 moved, 1 left out\./)
  })

  test('or a server that another request has, lead to a message that says when that starts, and to a request once they are free', async () => {
    const world = await startAlertWorld()
    await world.ada.command('/infra ip move 203.0.113.10 web-3 in 3h', { channel: ops })
    const locking = await untilCard(world.slack, /203\.0\.113\.10/)
    await world.ada.command('/infra evacuate edge-ash-1 web-3 in 2h because of a new disk', { channel: ops })
    await world.ben.click(await untilCard(world.slack, /Evacuate edge-ash-1/), 'Approve')
    await untilCard(world.slack, /Approved\.\* Starts <!date/)

    expect(await world.send([alert(), alert({ instance: 'edge-ash-1' })])).toBe(200)

    const message = await world.slack.until(() => botMessages(world).find(({ text }) => text.includes('2 alerts')), { what: 'the message' })
    expect(message.text).toMatch(/^:warning: \*2 alerts:\* [-\w]+, [-\w]+\. Nothing was requested\. cc <!subteam\^S0ONCALL01>\.\n/)
    expect(message.text).toMatch(
      /`web-1:9100 is down \(NodeDown.*\)`\. Not requested: .* has an open request: “<https:[^|]+\|Move [^>]+>” by <@U0ADA00001>, starts <!date.*To move an address now, approve its request, and press \*Start now\* if it is scheduled, or withdraw it\./,
    )
    expect(message.text).toMatch(
      /`edge-ash-1 is down .* has an open request: “<https:[^|]+\|Evacuate [^>]+>” by <@U0ADA00001>, starts <!date/,
    )
    expect(JSON.stringify(message.blocks)).not.toContain('Evacuate edge-ash-1…')
    await world.send([alert({ instance: 'edge-tyo-1' })])
    const byHand = await world.slack.until(() => botMessages(world).find(({ text }) => /S0ONCALL01>, evacuate by hand/.test(text)))
    await world.ben.click(byHand, 'Evacuate…')
    const form = await world.slack.until(() => world.ben.openViews()[0], { what: 'the form' })
    expect(JSON.stringify(form)).toContain('edge-tyo-1')

    await world.ada.click(locking, 'Withdraw')
    await untilCard(world.slack, /\*Withdrawn\*/)
    expect(await world.send([alert(), alert({ instance: 'edge-ash-1' })])).toBe(200)
    await untilProposed(world)
    expect(botMessages(world)).toHaveLength(5)

    await world.send([resolved(alert({ instance: 'edge-ash-1' }))])
    await expect
      .poll(() => botMessages(world).find(({ ts }) => ts === message.ts)?.text)
      .toMatch(/`edge-ash-1 is down .*\(resolved after 9.min\)/u)
  })
})

test('an alert about the target that comes after the request is added to its message, once', async () => {
  const world = await startAlertWorld()
  await world.send([alert()])
  const { ts } = await untilProposed(world)
  const shown = () => botMessages(world).find((each) => each.ts === ts)?.text ?? ''
  expect(shown()).not.toContain('Check first')

  for (const job of ['node', 'ping']) expect(await world.send([alert({ instance: 'web-2', job })])).toBe(200)

  await expect.poll(shown).toContain('•  An alert about the target web-2 has been firing since')
  expect(shown().match(/An alert about the target/g)).toHaveLength(1)
})

test('an alert about the target is in the message of a move, too, whether it comes before or after the request', async () => {
  const world = await startAlertWorld()
  const alerted = '•  An alert about the target web-2 has been firing since'
  const { card } = await requestMove(world)
  expect(card.text).not.toContain('Check first')

  await world.send([alert({ instance: 'web-2' })])
  const shown = () => botMessages(world).find(({ ts }) => ts === card.ts)?.text ?? ''
  await expect.poll(shown).toContain(alerted)
  await world.ada.click(card, 'Withdraw')
  await untilCard(world.slack, /Withdrawn/)
  await world.ada.command('/infra evacuate web-1 web-2 because INC-7', { channel: ops })
  expect((await untilCard(world.slack, /Evacuate .*needs approval from/s)).text).toContain(alerted)
})

test('an alert about the target that resolves leaves nothing to check, whatever an open form told, until one fires again', async () => {
  const world = await startAlertWorld({}, policy.replace(/(ip\.move\n.*)/, '$1\n    self_approval: break-glass'))
  const about = alert({ instance: 'web-2' })
  await world.send([about])
  const { card } = await requestMove(world)
  const shown = () => botMessages(world).find(({ ts }) => ts === card.ts)?.text ?? ''
  expect(shown()).toContain('has been firing since')
  await world.ben.click(card, 'Approve')
  const form = await world.slack.until(() => world.ben.topView(), { what: 'the form' })
  expect(JSON.stringify(form)).toContain('has been firing since')

  expect(await world.send([resolved(about)])).toBe(200)

  await expect.poll(shown).toMatch(/The alert about the target web-2 resolved at <!date/)
  expect(shown()).not.toMatch(/Check first|firing/)
  await world.chiara.command('/infra pending', { channel: ops })
  expect((await untilShown(world.slack, people.chiara, /needs approval/)).text).not.toMatch(/Check first|firing/)
  await world.send([alert({ instance: 'web-2', job: 'ping' })])
  await expect.poll(shown).toMatch(/Check first.*has been firing since/s)
  await world.send([resolved(alert({ instance: 'web-2', job: 'ping' }))])
  await expect.poll(shown).not.toContain('Check first')
  await world.ben.submit()
  await untilReport(world.slack, card.ts, /Done/)
})

/** Four addresses leave web-1, for so long that alerts come meanwhile. The policy has another target for the other end. */
const startMoving = (server: 'from' | 'target') =>
  startAlertWorld(
    withAddresses(addresses(4), { account: { moveTakes: { min: 4_000, max: 4_000 }, movePhases: [{ server }] } }),
    policy.replace('ASH: web-2', 'ASH: bastion-1'),
  )

const reports = ({ slack }: AlertWorld, cardTs: string, fits: RegExp) => slack.thread(ops, cardTs).filter(({ text }) => fits.test(text))

describe('an alert about a server to which addresses are being moved', () => {
  test.each([
    [
      'and that shows none yet',
      'from',
      /The account shows no Elastic IPs on web-2\. “<https:[^|]+\|Evacuate web-1 → web-2>” by <@U0ADA00001> moves addresses to it \(moving, 0 of 4 moved\)\. To move them elsewhere, press \*Stop tracking\* there once it is offered\. Then evacuate this server\./,
    ],
    [
      'and that shows them already',
      'target',
      /“<https:[^|]+\|Evacuate web-1 → web-2>” by <@U0ADA00001> \(moving, 0 of 4 moved\)\. The same for [^a-z]+\. To move them elsewhere, press \*Stop tracking\* there/,
    ],
  ] as const)('%s calls people, and the thread says it to the requester, once', async (_, server, why) => {
    const world = await startMoving(server)
    const card = await requestEvacuation(world, 'web-1 web-2 because INC-7')
    await world.ben.click(card, 'Approve')
    await expect.poll(() => moves(world)).toHaveLength(4)

    for (const job of ['node', 'node', 'ping']) expect(await world.send([alert({ instance: 'web-2', job })])).toBe(200)

    const message = await world.slack.until(() => botMessages(world).find(({ text }) => text.includes('*Alert:*')), { what: 'the message' })
    expect(message.text).toMatch(/^:warning: \*Alert:\* web-2\. Nothing was requested\. cc <!subteam\^S0ONCALL01>\.\n/)
    expect(message.text).toMatch(why)
    expect(message.text).not.toMatch(/approve its request|evacuate by hand/)
    expect((await untilReport(world.slack, card.ts, /An alert/)).text).toMatch(
      /^<@U0ADA00001> :rotating_light: An alert about the target web-2 has been firing since <!date.* “Evacuate web-1 → web-2 \(4 Elastic IPs\)” (goes on\. To stop it, press \*Stop the rest\*|was sent and can't be withdrawn)\.$/,
    )
    await untilReport(world.slack, card.ts, /Done/)
    expect(reports(world, card.ts, /An alert about/)).toHaveLength(1)
  })

  test('by a move says so in its thread, and again once it resolved', async () => {
    const world = await startAlertWorld({ account: { moveTakes: { min: 5_000, max: 5_000 } } })
    const { card } = await approveMove(world)
    await untilCard(world.slack, /\*Moving\*/)

    await world.send([alert({ instance: 'web-2' })])
    expect((await untilReport(world.slack, card.ts, /An alert about the target web-2/)).text).toMatch(
      /^<@U0ADA00001> .*was sent and can't be withdrawn\.$/,
    )
    await world.send([resolved(alert({ instance: 'web-2' }))])
    expect((await untilReport(world.slack, card.ts, /resolved at/)).text).toMatch(
      /^<@U0ADA00001> :information_source: The alert about the target web-2 .* was sent\.$/,
    )
  })

  test('once an approved request starts says so to its requester, who can withdraw it', async () => {
    const world = await startMoving('from')
    await world.ada.command('/infra evacuate web-1 web-2 in 2h because of a new disk', { channel: ops })
    const card = await untilCard(world.slack, /needs approval/)
    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /\*Approved\.\*/)

    await world.send([alert({ instance: 'web-2' })])

    expect((await untilReport(world.slack, card.ts, /An alert/)).text).toMatch(
      /^<@U0ADA00001> .*is approved\. Lockkeeper checks the account again before it starts\. To stop it, press \*Withdraw\*\.$/,
    )
    const message = await world.slack.until(() => botMessages(world).find(({ text }) => text.includes('*Alert:*')), { what: 'the message' })
    expect(message.text).toMatch(
      /cc <!subteam\^S0ONCALL01>\.\n.* moves addresses to it \(approved, starts <!date.*\)\. Withdraw what hasn't started\. /,
    )
    const shown = () => botMessages(world).find(({ ts }) => ts === card.ts)?.text ?? ''
    await expect.poll(shown).toContain(':rotating_light: An alert about the target web-2 has been firing since')
    await world.ben.command('/infra pending', { channel: ops })
    await untilShown(world.slack, people.ben, /Scheduled or held: 1\..*An alert about the target web-2 has been firing since/s)
    const again = alert({ instance: 'web-2' }, { startsAt: '2026-11-22T04:00:00.000Z' })
    await world.send([resolved(alert({ instance: 'web-2' }))])
    await expect.poll(shown).toContain('The alert about the target web-2 resolved at')
    await world.send([again])
    await expect.poll(shown).toContain(':rotating_light: An alert about the target web-2')
  })
})

test.each([
  [
    'still shows',
    'from',
    /addresses can't move to bastion-1\. .*203\.0\.113\.10.* has an open request: “<https:[^|]+\|Evacuate web-1 → web-3>” by <@U0ADA00001> \(moving, 0 of 4 moved\)\. The same for [^a-z]+\. <http/,
  ],
  ['no longer shows', 'target', /“<https:[^|]+\|Evacuate web-1 → web-3>” by <@U0ADA00001> moves addresses away \(moving, 0 of 4 moved\)\./],
] as const)(
  'an alert about a server whose addresses, which the account %s there, are being moved away calls nobody, and says so',
  async (_, server, why) => {
    const world = await startMoving(server)
    const card = await requestEvacuation(world, 'web-1 web-3 because INC-7')
    await world.ben.click(card, 'Approve')
    await expect.poll(() => moves(world)).toHaveLength(4)

    await world.send([alert()])

    const message = await world.slack.until(() => botMessages(world).find(({ text }) => text.includes('*Alert:*')), { what: 'the message' })
    expect(message.text).toMatch(/^:warning: \*Alert:\* web-1\. Nothing was requested\.\n/)
    expect(message.text).toMatch(why)
    expect(message.text).not.toContain('approve its request')
  },
)

const freezing = '  - { name: freezing, changes: freeze, request: [S0ONCALL01], approve: none }\n'

describe('a resolved alert', () => {
  test('withdraws the request that nobody has decided', async () => {
    const world = await startAlertWorld()
    await world.send([alert()])
    const proposed = await untilProposed(world)

    expect(await world.send([resolved(alert())])).toBe(200)

    const card = await untilCard(world.slack, /\*Withdrawn\*/)
    expect(card.text).toContain('The alert resolved. Nothing was done.\nAlertmanager')
    expect(world.slack.thread(ops, card.ts)).toHaveLength(1)
    await world.ben.click(proposed, 'Approve')
    const late = await untilShown(world.slack, people.ben, /already withdrew/)
    expect(wordsOf(late)).toBe('Alertmanager already withdrew this, because the alert resolved. No change made.')
    expect(moves(world)).toEqual([])
  })

  test('is reported in the thread of an evacuation that is under way, which goes on', async () => {
    const world = await startAlertWorld({ account: { moveTakes: { min: 2_000, max: 2_000 } } })
    await world.send([alert()])
    const card = await untilProposed(world)
    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /\*Moving\*/)

    expect(await world.send([resolved(alert())])).toBe(200)
    expect(await world.send([resolved(alert())])).toBe(200)

    const report = await untilReport(world.slack, card.ts, /resolved/)
    expect(report.text).toMatch(/^<@U0BEN00001> .*(was sent and can't be withdrawn|goes on\. To stop it, press \*Stop the rest\*)\.$/)
    await untilReport(world.slack, card.ts, /Done/)
    expect(await world.send([resolved(alert())])).toBe(200)
    expect(world.slack.thread(ops, card.ts).filter(({ text }) => text.includes('resolved'))).toHaveLength(1)
  })

  test('is reported in the thread of an approved request, and so is that one fires again; the message has it the next time', async () => {
    const world = await startAlertWorld({}, policy.replace('alerts:\n', `${freezing}alerts:\n`))
    await freeze(world)
    const again = alert({}, { startsAt: '2026-11-22T04:00:00.000Z' })
    await world.send([alert()])
    const card = await untilProposed(world)
    await approveHeld(world, world.ben, card)
    const shown = () => botMessages(world).find(({ ts }) => ts === card.ts)?.text ?? ''
    await expect.poll(shown).toContain('Approved.')

    for (const sent of [resolved(alert()), again, again, resolved(again), resolved(again)]) expect(await world.send([sent])).toBe(200)

    await expect
      .poll(() => reports(world, card.ts, /^<@.*The alert/).map(({ text }) => text))
      .toEqual([
        expect.stringMatching(
          /^<@U0BEN00001> :information_source: The alert resolved\. .* before it starts\. To stop it, press \*Withdraw\*\.$/,
        ),
        expect.stringMatching(
          /^<@U0BEN00001> :rotating_light: The alert fires again\. .* is approved\. Lockkeeper checks the account again before it starts\.$/,
        ),
      ])
    await expect.poll(shown).toContain('The alert resolved.')
  })
})
