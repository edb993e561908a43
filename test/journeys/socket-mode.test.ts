import { expect, test } from 'vitest'
import { ops, opsPage, people, startWorld, untilCard, untilReport, untilShown } from './world.ts'

test('over Socket Mode a move is requested, approved, tracked and reported as over HTTP', async () => {
  const world = await startWorld({ socketMode: true })
  const { elasticIp, target } = world.accountApi.world.movable()

  await world.ada.command('/infra help', { channel: ops })
  await untilShown(world.slack, people.ada, /What you can do/)
  await world.ada.command('/infra ip move', { channel: ops })
  const view = await world.slack.until(() => world.ada.topView())
  await world.ada.fill(view, { 'Elastic IP': elasticIp.id, Server: target.id })
  await world.ada.submit()
  const card = await untilCard(world.slack, /needs approval from/)
  await world.ben.click(card, 'Approve')

  const report = await untilReport(world.slack, card.ts, /Done/)
  expect(report.text).toContain(`<@${people.ada}>`)
  expect(world.slack.deliveries.every(({ request }) => request.transport === 'socket')).toBe(true)
  expect(await opsPage(world)).toContain('lockkeeper_slack_call_duration_seconds_count{method="apps.connections.open",status="ok"} 1')
})

test('every envelope is acknowledged, also one without a listener, and the bot goes on', async () => {
  const world = await startWorld({ socketMode: true })
  const user = { id: people.ada }
  const view = { id: 'V1', blocks: [{ type: 'input', block_id: 'reason' }] }
  const anything: [type: string, payload: unknown, answer: unknown][] = [
    ['interactive', { type: 'shortcut', callback_id: 'c', user }, {}],
    ['interactive', { type: 'view_closed', user, view }, {}],
    ['interactive', { type: 'block_suggestion', action_id: 'a', value: 'we' }, { options: [] }],
    ['interactive', { type: 'view_submission', user: null, view }, expect.objectContaining({ response_action: 'errors' })],
    ['interactive', null, {}],
    ['slash_commands', { command: '/infra', text: null }, expect.objectContaining({ response_type: 'ephemeral' })],
    ['events_api', { type: 'event_callback', event: { type: 'function_executed', function: {} } }, {}],
    ['events_api', { type: 'event_callback', event: { type: 'reaction_added', user: null, item: null } }, {}],
    // Slack's client throws for an envelope of the Events API without an event.
    ['events_api', { type: 'app_rate_limited', minute_rate_limited: 1_518_467_820 }, {}],
    ['events_api', null, {}],
    ['a_type_to_come', { any: 'thing' }, {}],
  ]

  const answers: unknown[] = []
  for (const [type, payload] of anything) answers.push(await world.slack.sendEnvelope(type, payload))

  expect(answers).toEqual(anything.map(([, , answer]) => answer))
  await world.ada.command('/infra help', { channel: ops })
  await untilShown(world.slack, people.ada, /What you can do/)
})

test('the bot reconnects when Slack refreshes the connection', async () => {
  const world = await startWorld({ socketMode: true })

  world.slack.disconnectSockets('refresh_requested')
  await world.slack.until(() => world.slack.sockets() === 0)
  await world.slack.until(() => world.slack.sockets() > 0)
  await world.ada.command('/infra help', { channel: ops })

  await untilShown(world.slack, people.ada, /What you can do/)
})
