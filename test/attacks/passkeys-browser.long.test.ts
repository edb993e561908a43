import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freeze, unfreeze } from '../journeys/freeze-world.ts'
import { linkIn, listPasskeys, pressForLink } from '../journeys/passkeys-world.ts'
import { finn, type PolicyWorld, writesOf } from '../journeys/policy-world.ts'
import { chooseEmergency, people, requestMove, untilCard, untilReport, untilShown, type World } from '../journeys/world.ts'
import { type Browser, openBrowser } from '../page/open-browser.ts'
import { addPasskey, createPasskey, type Device, startAtLocalhost, startDevice, status } from '../page/passkeys-devices.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

/** What the script of the page gives its own code. */
interface InPage {
  SimpleWebAuthnBrowser: { startAuthentication: (given: { optionsJSON: object }) => Promise<object> }
}

/** What the page would ask its browser for. */
async function optionsOf(page: Page): Promise<Record<string, unknown>> {
  return JSON.parse((await page.locator('form').getAttribute('data-options')) ?? '{}')
}

/** A real answer of the device, to what the page asks for, with changes. */
function signIn({ page }: Pick<Device, 'page'>, options: object): Promise<object> {
  return page.evaluate(
    (given) => (globalThis as unknown as InPage).SimpleWebAuthnBrowser.startAuthentication({ optionsJSON: given }),
    options,
  )
}

/** Sends an answer as the page does. */
function answerIn(page: Page, url: string, response: unknown): Promise<number> {
  const sent = { path: new URL(url).pathname, body: JSON.stringify({ response }) }
  return page.evaluate(async ({ path, body }) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(path, { method: 'POST', headers, body })).status
  }, sent)
}

/** Presses *Approve* of a held change, and resolves with the link that answers the form. */
async function linkOf(world: World, by: World['ben'], id: string, card: Parameters<typeof by.click>[0], reason?: string): Promise<string> {
  await by.click(card, 'Approve')
  await world.slack.until(() => by.topView(), { what: 'the form' })
  const before = world.slack.ephemerals(id).length
  if (reason) await chooseEmergency(world, by, reason)
  expect((await by.submit()).errors).toBeUndefined()
  return linkIn(await world.slack.until(() => world.slack.ephemerals(id).slice(before).at(-1), { what: 'the link' }))
}

/** Another site, on another port of this machine: it has the same RP id. */
async function startOtherSite(): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    response.setHeader('content-type', 'text/html').end('<p>Another site</p>')
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  onTestFinished(() => void server.close())
  return { url: `http://localhost:${(server.address() as AddressInfo).port}/`, requests }
}

/** Adds Chiara's passkey, which Ben confirms with his. */
async function addSecond(world: PolicyWorld, ben: Device, chiara: Device): Promise<void> {
  await addPasskey(browser, world, chiara.page, world.chiara, people.chiara)
  const adding = await untilCard(world.slack, /Add passkey[\s\S]*needs approval from/)
  await ben.page.goto(await pressForLink(world, world.ben, people.ben, adding, 'Approve'))
  await ben.page.getByRole('button', { name: 'Approve' }).click()
  await untilReport(world.slack, adding.ts, /Done/)
}

const policy = `rules:
  - {name: addresses, approve: {any_of: [S0ONCALL01, ${finn}], approvals: 2}, emergency: approvers, confirm: passkey}`

test('no real answer of a device counts for anything but its own person, request, act, link and site, and then each counts once', async () => {
  const world = await startAtLocalhost(policy)
  const [ben, chiara, thief] = [await startDevice(browser), await startDevice(browser), await startDevice(browser)]
  await addPasskey(browser, world, ben.page)
  await addSecond(world, ben, chiara)
  const other = await startOtherSite()
  await freeze(world)
  const { card } = await requestMove(world)
  const { card: second } = await requestMove(world, { skip: 1 })
  const move = async () => {
    const all = (await world.records.all()).filter(({ kind }) => kind === 'ip.move')
    return all.toSorted((a, b) => a.createdAt - b.createdAt)[0]
  }

  const url = await linkOf(world, world.ben, people.ben, card)
  const links = {
    emergency: await linkOf(world, world.ben, people.ben, card, 'web-1 is dead and customers see errors'),
    second: await linkOf(world, world.ben, people.ben, second),
    chiara: await linkOf(world, world.chiara, people.chiara, card),
  }
  await ben.page.goto(url)
  const options = await optionsOf(ben.page)
  await chiara.page.goto(links.chiara)
  const optionsOfChiara = await optionsOf(chiara.page)
  expect(await createPasskey(browser, world, thief.page)).toMatch(/^Requested: /)

  const anybody = { ...options, allowCredentials: [] }
  const ofLink = async (link: string) => {
    await ben.page.goto(link)
    const signed = await signIn(ben, await optionsOf(ben.page))
    await ben.page.goto(url)
    return signed
  }
  const attacks: [why: string, sign: () => Promise<object>][] = [
    ['of another person, on this link', () => signIn(chiara, anybody)],
    ['of another person, for their own link', () => signIn(chiara, optionsOfChiara)],
    ['of a passkey that a stolen session added, and nobody confirmed', () => signIn(thief, anybody)],
    ['for another request', () => ofLink(links.second)],
    ['for another act', () => ofLink(links.emergency)],
    ['for the link of another person', () => signIn(ben, { ...options, challenge: optionsOfChiara.challenge })],
    [
      'without user verification',
      async () => {
        const { authenticatorId } = ben
        await ben.cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
        const signed = await signIn(ben, { ...options, userVerification: 'discouraged' })
        await ben.cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
        return signed
      },
    ],
    [
      'on another site',
      async () => {
        await ben.page.goto(other.url)
        const signed = await ben.page.evaluate(async (given) => {
          const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(given as never)
          return JSON.parse(JSON.stringify(await navigator.credentials.get({ publicKey })))
        }, options)
        await ben.page.goto(url)
        return signed
      },
    ],
    [
      'of a copy of the device, whose counter is behind',
      async () => {
        const { credentials } = await ben.cdp.send('WebAuthn.getCredentials', { authenticatorId: ben.authenticatorId })
        const [credential] = credentials
        if (!credential) throw new Error('the device has no passkey')
        const { authenticatorId } = thief
        await thief.cdp.send('WebAuthn.clearCredentials', { authenticatorId })
        await thief.cdp.send('WebAuthn.addCredential', { authenticatorId, credential: { ...credential, signCount: 0 } })
        await thief.page.goto(url)
        return signIn(thief, options)
      },
    ],
  ]
  for (const [why, sign] of attacks) {
    const signed = await sign()
    expect([why, await answerIn(ben.page, url, signed)]).toEqual([why, 409])
  }
  // The browser itself refuses to sign for another RP id.
  await expect(signIn(ben, { ...options, rpId: 'example.com' })).rejects.toThrow(/SecurityError|invalid for this domain/)

  // Another site sends a good answer, which its browser only lets it do without reading.
  const good = await signIn(ben, options)
  await ben.page.goto(other.url)
  for (const type of ['text/plain', 'application/json'])
    await ben.page.evaluate(
      async ({ to, body, type }) => {
        const mode = type === 'text/plain' ? 'no-cors' : 'cors'
        await fetch(to, { method: 'POST', mode, headers: { 'content-type': type }, body }).catch(() => {})
      },
      { to: url, body: JSON.stringify({ response: good }), type },
    )
  expect(await move()).toMatchObject({ state: 'waiting', approvals: [] })
  expect(writesOf(world)).toEqual([])

  // Opened often, and left for another site, which does not learn the link.
  for (let times = 0; times < 3; times += 1) await ben.page.goto(url)
  await ben.page.evaluate((to) => {
    location.href = `${to}left`
  }, other.url)
  await ben.page.waitForURL(`${other.url}left`)
  expect(other.requests.some(({ url: path }) => path === '/left')).toBe(true)
  expect(other.requests.map(({ headers }) => headers.referer).filter((each) => each?.includes('passkeys'))).toEqual([])

  // Slack is away while the page is open.
  await ben.page.goto(url)
  const away = world.slack.faults.add({ method: 'usergroups.users.list', kind: 'status', times: 1_000 })
  await ben.page.getByRole('button', { name: 'Approve' }).click()
  await expect.poll(() => status(ben.page)).toMatch(/^Not confirmed\s+.*Slack/)
  away.remove()
  await ben.page.getByRole('button', { name: 'Approve' }).click()
  await expect.poll(() => status(ben.page)).toMatch(/^Approved\s+Approved \(1 of 2\)\. One more needed\./)
  expect(await answerIn(ben.page, url, await signIn(ben, options))).toBe(404)

  // One of the three approvers has no passkey. The other one has.
  await world.finn.click(card, 'Approve')
  await untilShown(world.slack, finn, /You have none here/)
  await chiara.page.goto(links.chiara)
  await chiara.page.getByRole('button', { name: 'Approve' }).click()
  await expect.poll(() => status(chiara.page)).toMatch(/^Approved/)
  await unfreeze(world)
  await untilReport(world.slack, card.ts, /Done/)

  // A page that is open while its passkey is removed.
  await chiara.page.goto(await pressForLink(world, world.chiara, people.chiara, second, 'Approve'))
  const signed = await signIn(chiara, await optionsOf(chiara.page))
  const list = await listPasskeys(world, world.chiara, people.chiara)
  await world.chiara.click(list, 'Remove')
  await untilShown(world.slack, people.chiara, /Removed/)
  expect(await answerIn(chiara.page, chiara.page.url(), signed)).toBe(409)
  expect(writesOf(world)).toHaveLength(1)
  const log = world.log.join('\n')
  for (const link of [url, ...Object.values(links)]) expect(log).not.toContain(new URL(link).pathname.split('/').at(-1))
})
