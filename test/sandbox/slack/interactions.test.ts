import { describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import type { SlackOptions } from './slack.ts'
import { actions, ada, ben, button, chiara, mrkdwn, ops, plain, section, startScripted } from './slack-for-test.ts'
import { signatureOf } from './transport.ts'

async function startWithCard(options: SlackOptions = {}, ...blocks: Json[]) {
  const scripted = await startScripted(options)
  const shown = blocks.length > 0 ? blocks : [actions(button())]
  await scripted.client.chat.postMessage({ channel: ops, text: 'Card', blocks: shown as never })
  const [card] = scripted.slack.messages('ops')
  if (card === undefined) throw new Error('no card')
  return { ...scripted, card, asAda: scripted.slack.as(ada), asBen: scripted.slack.as(ben) }
}

const post = (url: unknown, body: object) =>
  fetch(String(url), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

describe('a command', () => {
  test('arrives member by member, as a signed form', async () => {
    const { bot, slack, clock } = await startScripted()
    await slack.as(ada).command('/infra ip move', { channel: 'ops' })

    const [{ headers, payload } = { headers: {}, payload: {} }] = bot.received
    expect({ ...payload, response_url: 'R', trigger_id: 'T' }).toEqual({
      api_app_id: 'A0LOCKKEEP',
      channel_id: ops,
      channel_name: 'ops',
      command: '/infra',
      is_enterprise_install: 'false',
      response_url: 'R',
      team_domain: 'nimbus-works',
      team_id: 'T0NIMBUS01',
      text: 'ip move',
      token: 'not-verified-by-this',
      trigger_id: 'T',
      user_id: ada,
      user_name: 'ada',
    })
    expect(headers).toMatchObject({
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': String(clock.now / 1000),
    })
  })

  test('is signed as documented', () => {
    // The example of docs.slack.dev/authentication/verifying-requests-from-slack.
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'

    expect(signatureOf('8f742231b10e8888abcd99yyyzzz85a5', 1531420618, body)).toBe(
      'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    )
  })

  test('has its mentions, channels, domain names and signs escaped as Slack escapes them', async () => {
    const { bot, slack } = await startScripted()
    await slack.as(ada).command('/infra @ben #ops @oncall @here https://example.com web.example.com a&b <c>', { channel: 'ops' })

    expect(bot.received[0]?.payload.text).toBe(
      '<@U0BEN00001|ben> <#C0OPS00001|ops> <!subteam^S0ONCALL01|@oncall> <!here> <https://example.com> <http://web.example.com|web.example.com> a&amp;b &lt;c&gt;',
    )
  })

  test('without an acknowledgement in time, or with an answer that cannot be shown, gives the person a notice', async () => {
    const { bot, slack } = await startScripted()
    const type = async () => (await slack.as(ada).command('/infra', { channel: 'ops' })).notice

    bot.answer(() => ({ hold: true }))
    expect(await type()).toBe('/infra failed with the error "operation_timeout"')
    bot.answer(() => ({ body: { blocks: [{ type: 'header' }] } }))
    expect(await type()).toBe('/infra failed with the error "dispatch_failed"')
    bot.answer(() => ({ body: 'Right away' }))
    expect(await type()).toBeUndefined()
    await bot.close()
    expect(await type()).toBe('/infra failed with the error "dispatch_failed"')
    expect(slack.transcript('ops')).toBe('Lockkeeper (only visible to Ada): Right away')
    expect([slack.as(ada).notices().length, slack.as(ben).notices().length]).toEqual([3, 0])
  })
})

describe('a click', () => {
  test('arrives member by member', async () => {
    const { card, asBen } = await startWithCard()

    const { payload } = await asBen.click(card, 'Go')

    expect(payload).toMatchObject({
      message: { ts: card.ts, user: 'U0LOCKKEEP', bot_id: 'B0LOCKKEEP', blocks: [{ block_id: 'buttons' }] },
      container: { type: 'message', message_ts: card.ts, channel_id: ops, is_ephemeral: false },
    })
    expect({ ...payload, message: 'M', container: 'C', response_url: 'R', trigger_id: 'T' }).toEqual({
      actions: [{ action_id: 'go', action_ts: '1763700000.000001', block_id: 'buttons', text: plain('Go'), type: 'button', value: 'r1' }],
      api_app_id: 'A0LOCKKEEP',
      channel: { id: ops, name: 'ops' },
      container: 'C',
      enterprise: null,
      is_enterprise_install: false,
      message: 'M',
      response_url: 'R',
      state: { values: {} },
      team: { domain: 'nimbus-works', id: 'T0NIMBUS01' },
      token: 'not-verified-by-this',
      trigger_id: 'T',
      type: 'block_actions',
      user: { id: ben, name: 'ben', team_id: 'T0NIMBUS01', username: 'ben' },
    })
  })

  test('and a second one have different stamps and triggers', async () => {
    const { card, asBen } = await startWithCard()
    const clicks = await Promise.all([asBen.click(card, 'Go'), asBen.click(card, 'Go')])

    expect(new Set(clicks.map(({ payload }) => (payload.actions as Json[])[0]?.action_ts)).size).toBe(2)
    expect(new Set(clicks.map(({ payload }) => payload.trigger_id)).size).toBe(2)
  })

  test('is on the button in that block or with that value, and on an old copy as it was', async () => {
    const both = [actions(button()), { ...actions(button({ value: 'r2' })), block_id: 'two' }]
    const { client, card, asBen } = await startWithCard({}, ...both)
    await client.chat.update({ channel: ops, ts: card.ts, text: 'Expired' })
    const value = async (which: object) => ((await asBen.click(card, 'Go', which)).payload.actions as Json[])[0]?.value

    expect([await value({}), await value({ blockId: 'two' }), await value({ value: 'r2' })]).toEqual(['r1', 'r2', 'r2'])
    await expect(asBen.click(card, 'Go', { value: 'r3' })).rejects.toThrow(
      'There is nothing called "Go" with the value "r3" to act on in this message.',
    )
    await expect(asBen.click(card.ts, 'Go', { channel: 'ops' })).rejects.toThrow('There is nothing called "Go"')
  })

  test('that fails gives the person a warning', async () => {
    const { bot, slack, card, asBen } = await startWithCard()
    const noticeOf = async () => {
      const { outcome, notice } = await asBen.click(card, 'Go')
      return [outcome, notice]
    }

    bot.answer(() => ({ hold: true }))
    expect(await noticeOf()).toEqual(['timeout', '⚠️ Operation timed out. Apps need to respond within 3 seconds.'])
    bot.answer(() => ({ status: 500 }))
    expect(await noticeOf()).toEqual(['refused', '⚠️ This app responded with Status Code 500.'])
    bot.answer(() => ({}))
    slack.faults.add({ method: 'delivery.block_actions', kind: 'drop-after' })
    expect(await noticeOf()).toEqual(['unreachable', '⚠️ This app did not respond.'])
    expect(bot.received).toHaveLength(3)
  })

  test('whose confirmation is denied sends nothing', async () => {
    const confirm = { title: plain('Sure?'), text: plain('Really?'), confirm: plain('Yes'), deny: plain('No') }
    const { card, asBen } = await startWithCard({}, actions(button({ confirm })))

    expect((await asBen.click(card, 'Go', { confirm: 'deny' })).outcome).toBe('not-sent')
    expect((await asBen.click(card, 'Go')).outcome).toBe('acknowledged')
  })

  test('is not delivered if interactivity is off', async () => {
    const { bot, card, asBen } = await startWithCard({ interactivity: false })

    expect(await asBen.click(card, 'Go')).toMatchObject({ outcome: 'not-sent', notice: expect.stringContaining('not configured') })
    expect(bot.received).toEqual([])
  })
})

test('people who left, are deactivated or write in an archived channel can do nothing, and those of other workspaces run no commands', async () => {
  const { slack, card, asAda, asBen } = await startWithCard()
  slack.leave('ops', ben)
  slack.setPerson(chiara, { deleted: true })
  slack.archive('general')

  await expect(asBen.click(card, 'Go')).rejects.toThrow('Ben Laurent is not in #ops.')
  await expect(slack.as(chiara).command('/infra', { channel: 'ops' })).rejects.toThrow('deactivated')
  await expect(asAda.say('Hello', { channel: 'general' })).rejects.toThrow('#general is archived.')
  slack.setPerson(ada, { isStranger: true, teamId: 'T0PARTNER1' })
  expect((await asAda.command('/infra', { channel: 'ops' })).outcome).toBe('not-sent')
  expect((await asAda.click(card, 'Go')).payload.user).toMatchObject({ id: ada, team_id: 'T0PARTNER1' })
})

describe('a response URL', () => {
  test('works five times in half an hour, also where the bot is not a member', async () => {
    const { slack, clock } = await startScripted()
    const issue = async () => (await slack.as(ada).command('/infra', { channel: 'general' })).payload.response_url
    const [used, late] = [await issue(), await issue()]
    const statuses: number[] = []
    for (const text of ['', 'one', 'two', 'three', 'four', 'five', 'six']) statuses.push((await post(used, { text })).status)
    clock.now += 30 * 60_000 + 1

    expect(statuses).toEqual([400, 200, 200, 200, 200, 200, 404])
    expect(await (await post(used, { text: 'seven' })).json()).toMatchObject({ ok: false })
    expect(await (await post(late, { text: 'late' })).json()).toEqual({ ok: false, error: 'expired_url' })
    expect(slack.ephemerals(ada).map(({ text }) => text)).toEqual(['one', 'two', 'three', 'four', 'five'])
  })

  test('replaces the ephemeral message that was clicked, whose content the click does not carry', async () => {
    const { slack, client, asAda, asBen } = await startWithCard()
    await client.chat.postEphemeral({ channel: ops, user: ada, text: 'Sure?', blocks: [actions(button())] as never })
    const [shown] = slack.ephemerals(ada)
    if (shown === undefined) throw new Error('no ephemeral message')
    const { payload } = await asAda.click(shown, 'Go')

    await post(payload.response_url, { replace_original: true, text: 'Done.' })

    expect(payload).toMatchObject({ container: { type: 'message', is_ephemeral: true, message_ts: shown.ts } })
    expect(payload).not.toHaveProperty('message')
    expect(slack.ephemerals(ada)).toMatchObject([{ ts: shown.ts, text: 'Done.' }])
    await expect(asBen.click(shown, 'Go')).rejects.toThrow('Ben Laurent cannot see this message.')
  })
})

test('a transcript has every kind of block, threads below their messages, and ephemeral messages with the people who see them', async () => {
  const { slack, client, card } = await startWithCard(
    {},
    { type: 'header', text: plain('Plans') },
    section({ text: mrkdwn('For <@U0BEN00001> &amp; <!subteam^S0ONCALL01>'), fields: [plain('One'), plain('Two')] }),
    { type: 'divider' },
    { type: 'context', elements: [mrkdwn('<https://example.com|production>')] },
    actions(button(), { type: 'external_select', action_id: 'pick', placeholder: plain('Server') }),
  )
  await client.chat.postMessage({ channel: ops, text: 'Approved', thread_ts: card.ts, reply_broadcast: true })
  await client.chat.postEphemeral({ channel: ops, user: ada, text: 'Only you' })

  expect(slack.transcript('ops', { as: ada })).toMatchInlineSnapshot(`
    "Lockkeeper: Plans
      For @Ben Laurent & @oncall
      One
      Two
      ———
      production
      [Go] [Server ▾]
        Lockkeeper: Approved
    Lockkeeper (also sent to the channel): Approved
    Lockkeeper (only visible to Ada): Only you"
  `)
  expect(slack.transcript('ops', { as: ben })).not.toContain('Only you')
})

test('an error of a wait says what has happened', async () => {
  const { slack } = await startWithCard()

  await expect(slack.until(() => false, { timeoutMs: 20, what: 'a miracle' })).rejects.toThrow(
    /Waited 20 ms without success for a miracle\.[\s\S]*chat\.postMessage → 200[\s\S]*Lockkeeper: \[Go\]/,
  )
})
