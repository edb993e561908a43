import { isIP } from 'node:net'
import { z } from 'zod'
import { requireUncut, staysUnchecked } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import { wrongUsage } from '../../bolt/help.ts'
import {
  accessFacts,
  fullAccessFromEverywhere,
  isKeyLabel,
  isOpenToAll,
  isSameCreation,
  keyPhrase,
  labelOf,
  parseKeyName,
  uniqueKeyName,
  writeKeyName,
} from '../../domain/account.ts'
import { type Change, type IdFact, type Preflight, type PreflightOptions, RetractedBecause, retractedBecause } from '../../domain/change.ts'
import { UserError } from '../../domain/errors.ts'
import { NewKeyEnd } from '../../domain/key-ends.ts'
import { formatDuration, phrase } from '../../domain/text.ts'
import { isElapsed } from '../../domain/times.ts'
import { changeFeature } from '../../kit/change-feature.ts'
import { type Form, oneOf, text } from '../../kit/change-form.ts'
import { finding, findings, namesakes } from '../../kit/findings.ts'
import { createKey, fixedEnd } from '../../kit/key-ends.ts'
import { apiKeys, keyNamesakes } from '../../kit/things.ts'
import { requestIdFor } from '../../life/submit.ts'
import { option } from '../../slack/blocks.ts'
import { notRequested, Refusal } from '../../slack/errors.ts'
import { code, type Mrkdwn, mrkdwn, truncate } from '../../slack/text.ts'
import {
  creationFindings,
  endFields,
  endFindings,
  endsWords,
  enteredEnd,
  filledEnd,
  isLateEnd,
  lastsWords,
  observeCreation,
  readNewEnd,
  requireEndable,
  splitEnd,
  usualEnd,
} from './end-fields.ts'

/**
 * `name` is unique, so that a key whose creation was not confirmed can be found by it. For a key that ends, Lockkeeper adds the end when it is
 * created.
 */
const NewKey = z.object({ name: z.string(), readOnly: z.boolean(), allowedIps: z.array(z.string()), endsAt: NewKeyEnd.optional() })
type NewKey = z.infer<typeof NewKey>

/** The id of the key on the account, for the audit. */
const resourceId = z.string()
const name = z.string()

export const newKeyFindings = findings({
  ...endFindings,
  ...creationFindings,
  'name-taken': finding({ name }, ({ name }) => `An API key called ${name} already exists.`),
  namesakes: namesakes(apiKeys),
  'keys-unread': finding("whether such a key already exists (the account API didn't answer)"),
  'full-access-from-everywhere': finding(fullAccessFromEverywhere),
  'never-ends': finding('The key never ends.'),
  retracted: finding(
    { resourceId, because: RetractedBecause },
    ({ resourceId, because }) => `${retractedBecause[because]}, so Lockkeeper deleted the new key (${resourceId}).`,
  ),
})
type NewKeyFinding = z.infer<typeof newKeyFindings.schema>

const nameRule = 'A name has up to 60 letters, digits, spaces and . _ @ + -. It begins with a letter or digit.'

const form: Form<NewKey, NewKey, 'name' | 'access' | 'addresses' | 'ends' | 'date'> = {
  hasEnds: true,
  takesNoStart: true,
  callbackId: 'create-api-key',
  title: 'Create an API key',
  about: 'name',
  fields: {
    name: text({
      label: 'Name',
      hint: 'What it is for, such as ci-deploy. Lockkeeper adds your Slack id, the request id and the end.',
      maxLength: 60,
      problem: (label) => (isKeyLabel(label) ? undefined : mrkdwn`${nameRule}`),
    }),
    access: oneOf(
      [
        option({ text: 'Read-only', value: 'read-only', description: 'Can read everything and change nothing' }),
        option({ text: 'Full access', value: 'full', description: 'Can read and change everything on the account' }),
      ],
      { label: 'Access' },
    ),
    addresses: text({
      label: 'Allowed addresses',
      hint: 'Addresses or ranges such as 203.0.113.0/24, separated by spaces or commas. Leave empty to allow any IP.',
      optional: true,
      maxLength: 1_000,
      problem: wrongAddresses,
    }),
    ...endFields(),
  },
  input: async ({ name, access, addresses, ...entered }, sent, app) => {
    const end = enteredEnd(entered)
    return {
      name: uniqueName(name, sent),
      readOnly: access !== 'full',
      allowedIps: parseAllowedAddresses(addresses).addresses,
      endsAt: end === undefined ? undefined : await readNewEnd(app, end, sent.origin.userId),
    }
  },
  filled: ({ name, readOnly, allowedIps, endsAt }) => ({
    ...filledEnd(endsAt),
    name: labelOf(name),
    access: readOnly ? 'read-only' : 'full',
    addresses: allowedIps.join(', '),
  }),
}

export const createApiKey = changeFeature({
  kind: 'key.create',
  change: newKeyChange,
  findings: newKeyFindings,
  form,
  command: {
    words: 'keys create',
    synonyms: ['keys add', 'keys new'],
    usage: '[<name> [for <time> | until <date>]]',
    group: 'Keys',
    summary: 'Request a new API key',
    details: mrkdwn`With a name: a read-only key for any IP, which Lockkeeper deletes after the time. Without: opens a form for access, allowed addresses and the end. After the approval, press *Create key*. Its token is shown once, only to you.`,
    examples: ['ci-deploy for 30d', 'ci-deploy until 2026-12-24', '"laptop of ada" for 90d'],
    button: 'New key',
    isLateTime: isLateEnd,
  },
  read: async (app, { args: words, slashCommand }) => {
    const { args, end } = splitEnd(words, { bare: true })
    const [label = '', ...rest] = args
    const alone = args.join(' ').replace(/^(?:for|in) /i, '')
    if (isElapsed(alone)) throw new Refusal('wrong-usage', wrongUsage(mrkdwn`Write it first, as in ${code(`ci-deploy for ${alone}`)}.`, []))
    if (rest.length > 0)
      throw new Refusal(
        'wrong-usage',
        wrongUsage(mrkdwn`Write an end as ${code('for 30d')} or ${code('until 2026-12-24')}, and a name with spaces in quotes.`, rest),
      )
    if (!isKeyLabel(label)) throw new UserError('name-not-possible', notRequested(nameRule))
    const { userId, channelId } = slashCommand.origin
    const endsAt = end === undefined ? usualEnd(app, 'key.create', channelId) : await readNewEnd(app, end, userId)
    return { input: { name: uniqueName(label, slashCommand), readOnly: true, allowedIps: [], endsAt } }
  },
})

function uniqueName(label: string, { origin, deliveryKey }: { origin: { userId: string }; deliveryKey: string }): string {
  return uniqueKeyName(label, origin.userId, requestIdFor(deliveryKey))
}

function wrongAddresses(typed: string): Mrkdwn | undefined {
  const { wrong } = parseAllowedAddresses(typed)
  if (wrong.length === 0) return undefined
  return mrkdwn`Not an IP address, or too large a range: ${truncate(wrong.join(', '), 200, 'plain')}. Use 203.0.113.7 or 203.0.113.0/24.`
}

/** Splits a text at commas, semicolons and white space. `wrong` are the parts that are neither an address nor a CIDR range. */
export function parseAllowedAddresses(typed: string): { addresses: string[]; wrong: string[] } {
  const parts = [...new Set(typed.split(/[\s,;]+/).filter((part) => part !== ''))]
  return { addresses: parts.filter(isAddressOrRange), wrong: parts.filter((part) => !isAddressOrRange(part)) }
}

/** The shortest and the longest prefixes. Two ranges with a prefix of 1 are all addresses, and would not be shown as that. */
const prefixes = { 4: [8, 32], 6: [16, 128] } as const

/** Accepts `203.0.113.7`, `203.0.113.0/24` and `2001:db8::/32`, but no range that is much larger: an empty list means any address. */
function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  if (prefix === undefined) return true
  const [shortest, longest] = prefixes[version as 4 | 6]
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) >= shortest && Number(prefix) <= longest
}

const seenOnce = 'Shown once. Save it in your secrets manager now. If it is lost, request to rotate or revoke the key.'

/** Interface specification, "POST /auth/api_keys". The requester takes the key with a click after the approval. */
export function newKeyChange(app: App): Change<NewKey, NewKey> {
  return {
    kind: 'key.create',
    label: 'a new API key',
    input: NewKey,
    facts: NewKey,
    resource: ({ name }) => `api_key_name:${name}`,
    // The name on the account is unique. Two open requests with one label would create two keys that people can't distinguish.
    moreResources: ({ name }) => [`api_key_label:${labelOf(name).toLowerCase()}`],
    endOf: ({ endsAt }) => ({ endsAt }),
    preflight: (input, options) => preflight(app, input, options),
    differences: () => [],
    explain: newKeyFindings.explain,
    subject: ({ name }) => labelOf(name),
    describe: ({ name, readOnly, allowedIps, endsAt }) => ({
      title: phrase`Create API key ${keyPhrase(name)}${endsAt === undefined ? [] : phrase`,${lastsWords(endsAt)}`}`,
      facts: [
        ...accessFacts({ readOnly, allowedIps }, { isWarned: true }),
        ...(typeof endsAt === 'object' ? [{ label: 'Ends', value: [`${formatDuration(endsAt.afterMs)} from its creation`] }] : []),
      ],
      ids: [nameOnAccount(name, endsAt)],
      underway: 'being created',
    }),
    handover: {
      label: 'Create key',
      takesEnd: true,
      issue: async (input, _, options) => {
        const { endsAt } = input
        const end = endsAt && (await fixedEnd(app, endsAt))
        const { key, token } = await createKey(app, { ...input, endsAt: end }, options)
        const heading = `Your new API key ${labelOf(input.name)}`
        const note = phrase`${[seenOnce]} Its name on the account is ${key.name ?? input.name}.`
        return { id: key.id, secret: token, heading, note, endsAt: end }
      },
      retract: ({ id }) => app.account.apiKeys.delete(id),
      retracted: ({ id }, because): NewKeyFinding => ({ code: 'retracted', resourceId: id, because }),
    },
    observe: ({ name }, _, moment) => observeCreation(app, name, moment),
    doneSentence: ({ name }, endsAt) => phrase`Created API key ${keyPhrase(name)}. Its token was shown once.${endsWords(endsAt)}`,
  }
}

function nameOnAccount(name: string, end: NewKeyEnd | undefined): IdFact {
  const parsed = parseKeyName(name)
  if (typeof end === 'object') return { label: 'Name on the account begins with', value: name.replace(/\]$/, '') }
  return { label: 'Name on the account', value: end === undefined || !parsed ? name : writeKeyName({ ...parsed, end }) }
}

async function preflight(app: App, input: NewKey, { signal }: PreflightOptions): Promise<Preflight<NewKey, NewKey>> {
  const { name, endsAt } = input
  if (endsAt !== undefined) requireEndable(app, endsAt, newKeyFindings.refuse)
  const open: NewKeyFinding[] = [
    ...(isOpenToAll(input) ? [{ code: 'full-access-from-everywhere' as const }] : []),
    ...(endsAt === undefined ? [{ code: 'never-ends' as const }] : []),
  ]
  try {
    const keys = requireUncut(await app.account.apiKeys.list({ signal }))
    if (keys.some((key) => isSameCreation(key.name, name))) newKeyFindings.refuse({ code: 'name-taken', name })
    return { facts: input, unchecked: [], warnings: [...keyNamesakes(keys, labelOf(name)), ...open], incomplete: false }
  } catch (error) {
    if (!staysUnchecked(error)) throw error
    return { facts: input, unchecked: [{ code: 'keys-unread' } satisfies NewKeyFinding], warnings: open, incomplete: true }
  }
}
