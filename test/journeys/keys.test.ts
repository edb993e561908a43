import { describe, expect, test } from 'vitest'
import { restartWith, startPasskeyWorld, usual } from './passkeys-world.ts'
import { cardNow, writesOf } from './policy-world.ts'
import { approvedKey, hideSecrets, ops, people, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

const quick = { graceMs: 600, unsettledMs: 600, handoverMs: 800 }

/** Returns a key that Lockkeeper does not use itself. */
function anotherKey({ accountApi: { world, key } }: World) {
  const found = world.data.apiKeys.find(({ token }) => token !== key)
  if (!found) throw new Error('the stand-in has no other key')
  return { ...found }
}

const idsOf = ({ accountApi }: World) => accountApi.world.data.apiKeys.map(({ id }) => id)

const tokenPattern = /\b[0-9a-f]{36}\b/

function keysMade(world: World) {
  return world.accountApi.world.data.apiKeys.filter((key) => key.name.startsWith('ci-deploy'))
}

function writes(world: World, method: string) {
  return world.accountApi.journal.writes().filter((entry) => entry.method === method)
}

function reads(world: World): number {
  return world.accountApi.journal.filter(({ method, path }) => method === 'GET' && path.includes('api_keys')).length
}

describe('a new key', () => {
  test('whose rule asks for a passkey once it was approved without one ends before its requester presses the button', async () => {
    const world = await startPasskeyWorld(usual.replace(', confirm: passkey', ''))
    const card = await approvedKey(world)

    await restartWith(world, { policy: usual })

    await untilReport(world.slack, card.ts, /Not started.*The policy now requires a passkey for its approvals\. Nothing was changed\./)
    await world.slack.until(() => JSON.stringify(cardNow(world, card)?.blocks).includes('Request again'), { what: 'the button' })
    expect(writesOf(world)).toEqual([])
  })

  test("is created on the requester's click, and its token is shown to them alone, once", async () => {
    const world = await startWorld()
    const card = await approvedKey(world)
    expect(writes(world, 'POST')).toEqual([])

    await world.ben.click(card, 'Create key')
    await untilShown(world.slack, people.ben, /can create this token/)
    expect(writes(world, 'POST')).toEqual([])

    await world.ada.click(card, 'Create key')
    const shown = await untilShown(world.slack, people.ada, /Your new API key/)
    await untilReport(world.slack, card.ts, /Done/)

    const [key] = keysMade(world)
    expect(JSON.stringify(shown.blocks)).toContain(key?.token)
    expect(shown.text).not.toMatch(tokenPattern)
    expect(JSON.stringify(shown.blocks)).not.toContain('"actions"')
    expect(key?.name).toMatch(/^ci-deploy \[U0ADA00001 [0-9a-f]{12}\]$/)
    expect(JSON.stringify(shown.blocks)).toContain(`Its name on the account is \`${key?.name}\`.`)
    expect(key).toMatchObject({ readOnly: true, allowedIps: [] })
    const elsewhere = [...world.slack.messages(ops), ...world.slack.thread(ops, card.ts), ...world.slack.ephemerals(people.ben)]
    expect(JSON.stringify(elsewhere)).not.toMatch(tokenPattern)
    expect(world.log.join('')).not.toContain(key?.token)
  })

  test('is created once, however often the button is pressed', async () => {
    const world = await startWorld({ replicas: 2 })
    const card = await approvedKey(world)
    const before = reads(world)
    const clicks = []
    for (let round = 0; round < 6; round += 1) {
      world.slack.connectBot(world.bots[round % 2]?.slackUrl ?? '')
      clicks.push(world.ada.click(card, 'Create key'))
    }
    await Promise.all(clicks)
    await untilReport(world.slack, card.ts, /Done/)

    expect(writes(world, 'POST')).toHaveLength(1)
    // Each process looks at the account for one press at a time, so that presses at once don't spend what others need.
    expect(reads(world) - before).toBeLessThanOrEqual(2)
    expect(world.slack.ephemerals(people.ada).filter((message) => tokenPattern.test(JSON.stringify(message.blocks)))).toHaveLength(1)
  })

  test('takes its settings from the form, which shows a problem at its field', async () => {
    const world = await startWorld()
    await world.ada.command('/infra keys create', { channel: ops })
    const view = await world.slack.until(() => world.ada.topView())
    await world.ada.fill(view, {
      Name: 'ci-deploy',
      Access: 'Full access',
      'Allowed addresses': '203.0.113.0/24 2001:db8::/32',
      Ends: 'On a date',
      Date: '2020-01-01',
    })
    expect((await world.ada.submit()).errors).toEqual({
      date: expect.stringMatching(/^Not requested: .* is past\. Write a later date\.$/),
    })

    await world.ada.fill(view, { Ends: 'Never', Date: '' })
    await world.ada.submit()
    const card = await untilCard(world.slack, /needs approval from/)
    expect(JSON.stringify(card.blocks)).toContain('The key never ends.')
    await world.chiara.click(card, 'Approve')
    await world.ada.click(await untilCard(world.slack, /\*Approved\.\*/), 'Create key')
    await untilShown(world.slack, people.ada, /Your new API key/)

    expect(keysMade(world)).toMatchObject([{ readOnly: false, allowedIps: ['203.0.113.0/24', '2001:db8::/32'] }])
  })

  test('expires if its requester does not click', async () => {
    const world = await startWorld({ env: { APPROVAL_TTL: '5s' } })
    const card = await approvedKey(world)

    await untilReport(world.slack, card.ts, /Expired.*no token was created/)
    await world.ada.click(card, 'Create key')

    await untilShown(world.slack, people.ada, /expired.*no token was created/)
    expect(writes(world, 'POST')).toEqual([])
  })
})

describe('an existing key', () => {
  test('is deleted if Slack does not show its new token, and the messages say that the old token is dead too', async () => {
    const world = await startWorld()
    const key = anotherKey(world)
    const card = await approvedKey(world, `rotate ${key.id}`)
    const hidden = hideSecrets(world)

    await world.ada.click(card, 'Rotate key')
    const report = await untilReport(world.slack, card.ts, /Failed/)
    const failed = await untilCard(world.slack, /Failed/)

    expect(hidden.map(({ fired }) => fired)).toEqual([1, 1])
    expect(idsOf(world)).not.toContain(key.id)
    const words = 'Both tokens are invalid.'
    expect(report.text).toContain(words)
    expect((await untilShown(world.slack, people.ada, /deleted/)).text).toContain(words)
    expect(failed.text).toContain('Request a new key.')
    // A new request would be for a key that no longer exists.
    expect(JSON.stringify(failed.blocks)).not.toContain('Request again')
  })

  test("waits for the requester's click if its rotation needs no approval, also if its card comes late", async () => {
    const world = await startWorld({ env: { NO_APPROVAL: 'key.rotate' } })
    const key = anotherKey(world)
    world.slack.faults.add({ method: 'chat.postMessage', kind: 'drop-after', times: 1 })

    await world.ada.command(`/infra keys rotate ${key.id}`, { channel: ops })
    await untilShown(world.slack, people.ada, /Recorded:/)
    const card = await untilCard(world.slack, /\*Approved\.\*/)

    expect(writes(world, 'PUT')).toEqual([])
    await world.ada.click(card, 'Rotate key')
    await untilReport(world.slack, card.ts, /Done/)
  })
})

test.each([
  ['a creation', 'POST', 'drop-before', 'Create key', /Not started.*It wasn't created/],
  ['a rotation', 'PUT', 'drop-before', 'Rotate key', /Not started.*Its old token still works/],
  ['a revocation', 'DELETE', 'drop-after', undefined, /Revoked API key/],
] as const)('of %s whose answer is lost, the outcome is read: %s', async (_, method, kind, button, words) => {
  const world = await startWorld({ timings: quick })
  const { id } = anotherKey(world)
  const lost = world.accountApi.faults.add({ method, path: /api_keys/, kind, times: 1 })
  const command = { POST: 'create ci-deploy', PUT: `rotate ${id}`, DELETE: `revoke ${id}` }[method]
  await world.ada.command(`/infra keys ${command}`, { channel: ops })
  const asked = await untilCard(world.slack, /needs approval from/)
  await world.ben.click(asked, 'Approve')
  if (button) await world.ada.click(await untilCard(world.slack, /\*Approved\.\*/), button)

  await untilReport(world.slack, asked.ts, words)
  expect(lost.fired).toBe(1)
  expect(writes(world, method).length).toBeLessThanOrEqual(1)
  expect(keysMade(world)).toEqual([])
  expect(idsOf(world).includes(id)).toBe(method !== 'DELETE')
})
