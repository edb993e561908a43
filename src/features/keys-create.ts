import { isIP } from 'node:net'
import type { ModalView } from '@slack/web-api'
import { z } from 'zod'
import { type AccountApi, ensureDeleted, findApiKey } from '../account/client.ts'
import { staysUnchecked } from '../account/resource.ts'
import {
  type ApiKey,
  findNamesakes,
  fullAccessFromEverywhere,
  isKeyLabel,
  keyPhrase,
  labelOf,
  namesakesAre,
  uniqueKeyName,
} from '../domain/account.ts'
import {
  type Change,
  type Description,
  explainer,
  type Moment,
  type Observation,
  type Preflight,
  type PreflightOptions,
  RetractedBecause,
  retractedBecause,
  type Words,
  wordsFrom,
} from '../domain/change.ts'
import { CheckFailed, UserError } from '../domain/errors.ts'
import { type Phrase, phrase } from '../domain/text.ts'
import { reasonField } from '../messages/forms.ts'
import { type CommandSubmit, type Filling, submitFromCommand, submitFromForm } from '../requests/forms.ts'
import { requestIdFor } from '../requests/submit.ts'
import { input, modal, option, plainTextInput, problemBlocks, reasonIn } from '../slack/blocks.ts'
import type { CommandCall } from '../slack/commands.ts'
import { refuseForm } from '../slack/forms.ts'
import type { Submission, SubmissionAnswer } from '../slack/interactions.ts'
import { radioButtons } from '../slack/pickers.ts'
import { type Mrkdwn, mrkdwn, truncate } from '../slack/text.ts'
import type { Feature, FeatureDefinition } from './feature.ts'

/** Splits a text at commas, semicolons and white space. `wrong` are the parts that are neither an address nor a CIDR range. */
export function parseAllowedAddresses(typed: string): { addresses: string[]; wrong: string[] } {
  const parts = [...new Set(typed.split(/[\s,;]+/).filter((part) => part !== ''))]
  return { addresses: parts.filter(isAddressOrRange), wrong: parts.filter((part) => !isAddressOrRange(part)) }
}

/** The shortest prefixes. Two ranges with a prefix of 1 are all addresses, and would not be shown as that. */
const shortestPrefix = { 4: 8, 6: 16 } as const

/** Accepts `203.0.113.7`, `203.0.113.0/24` and `2001:db8::/32`, but no range that is much larger: an empty list means any address. */
function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  if (prefix === undefined) return true
  const [shortest, longest] = version === 4 ? [shortestPrefix[4], 32] : [shortestPrefix[6], 128]
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) >= shortest && Number(prefix) <= longest
}

/** The id of the key on the account. The audit finds the account's own events by it. */
const resourceId = z.string()

/** Everything that can prevent a new key, remain unchecked before it, or end its request. */
export const NewKeyFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('name-taken'), name: z.string() }),
  /** Other keys that people know by the same name: their number, and up to three of them as lists show them. */
  z.object({ code: z.literal('same-name'), name: z.string(), others: z.array(z.string()), count: z.number() }),
  z.object({ code: z.literal('keys-unread') }),
  z.object({ code: z.literal('full-access-from-everywhere') }),
  z.object({ code: z.literal('created-unseen'), resourceId }),
  z.object({ code: z.literal('no-such-key') }),
  z.object({ code: z.literal('retracted'), resourceId, because: RetractedBecause }),
])
export type NewKeyFinding = z.infer<typeof NewKeyFinding>

/** Throws CheckFailed with the finding and its words. */
export function refuseNewKey(finding: NewKeyFinding): never {
  throw new CheckFailed(finding, newKeyWords(finding))
}

/** Puts a finding into words: a phrase after *Not checked:* for what stays unchecked, and a sentence for everything else. */
export function newKeyWords(finding: NewKeyFinding): Words {
  const sentence = sentenceOf(finding)
  return typeof sentence === 'string' ? { why: sentence } : wordsFrom(sentence)
}

function sentenceOf(finding: NewKeyFinding): string | Phrase {
  switch (finding.code) {
    case 'name-taken':
      return `An API key called ${finding.name} already exists.`
    case 'same-name':
      return phrase`${namesakesAre(finding, { one: 'API key', many: 'API keys' })} already called ${finding.name}.`
    case 'keys-unread':
      return "whether such a key already exists (the account API didn't answer)"
    case 'full-access-from-everywhere':
      return fullAccessFromEverywhere
    case 'created-unseen':
      return `Nobody saw the token of the created key (${finding.resourceId}), so Lockkeeper deleted it.`
    case 'no-such-key':
      return "No key of that name is on the account. It wasn't created, or it's already deleted. If it appears later, Lockkeeper deletes it."
    case 'retracted':
      return `The key was created (${finding.resourceId}). ${retractedBecause[finding.because]}, so Lockkeeper deleted the key at once.`
  }
}

/** `name` is unique, so that a key whose creation was not confirmed can be found by it. */
export const NewKey = z.object({ name: z.string(), readOnly: z.boolean(), allowedIps: z.array(z.string()) })
export type NewKey = z.infer<typeof NewKey>

/**
 * Creates the change that creates an API key (interface specification, "POST /auth/api_keys"). The requester takes it with a click after
 * the approval.
 */
export function createNewKeyChange({ apiKeys }: Pick<AccountApi, 'apiKeys'>): Change<NewKey, NewKey> {
  const findByName = (name: string, signal?: AbortSignal) => findApiKey(apiKeys, (key) => key.name === name, { signal })

  async function preflight(input: NewKey, { signal }: PreflightOptions): Promise<Preflight<NewKey, NewKey>> {
    try {
      const keys = await apiKeys.list({ signal })
      if (keys.some(({ name }) => name === input.name)) refuseNewKey({ code: 'name-taken', name: input.name })
      return { facts: input, unchecked: [], warnings: [...sameNameAmong(keys, input), ...warningsAbout(input)], incomplete: false }
    } catch (error) {
      if (!staysUnchecked(error)) throw error
      return {
        facts: input,
        unchecked: [{ code: 'keys-unread' } satisfies NewKeyFinding],
        warnings: warningsAbout(input),
        incomplete: true,
      }
    }
  }

  /** Deletes a key whose token nobody has seen. A key that was used counts as seen. */
  async function observe(input: NewKey, _: NewKey, moment: Moment): Promise<Observation> {
    const key = await findByName(input.name)
    if (key?.lastUsedAt !== undefined) return { is: 'done' }
    if (key) {
      await ensureDeleted(apiKeys, key.id)
      if (await findByName(input.name)) return { is: 'unclear' }
      return { is: 'failed', cause: { code: 'created-unseen', resourceId: key.id } satisfies NewKeyFinding, corrects: true }
    }
    if (moment.isUnsettled) return { is: 'unclear' }
    return { is: 'not-started', cause: { code: 'no-such-key' } satisfies NewKeyFinding }
  }

  return {
    kind: 'key.create',
    label: 'a new API key',
    input: NewKey,
    facts: NewKey,
    resource: ({ name }) => `api_key_name:${name}`,
    // The name on the account is unique. Two open requests with one label would create two keys that people can't distinguish.
    moreResources: ({ name }) => [`api_key_label:${labelOf(name).toLowerCase()}`],
    preflight,
    differences: () => [],
    explain: explainer(NewKeyFinding, newKeyWords),
    subject: ({ name }) => labelOf(name),
    describe: describeNewKey,
    handover: {
      label: 'Create key',
      issue: async ({ name, readOnly, allowedIps }, _, { onAnswer }) => {
        const { key, token } = await apiKeys.create({ name, readOnly, allowedIps }, { onAnswer })
        return {
          id: key.id,
          secret: token,
          heading: `Your new API key ${labelOf(name)}`,
          note: `${seenOnce} Its name on the account is ${name}.`,
        }
      },
      retract: ({ id }) => ensureDeleted(apiKeys, id),
      retracted: ({ id }, because): NewKeyFinding => ({ code: 'retracted', resourceId: id, because }),
    },
    observe,
    doneSentence: (facts) => phrase`Created API key ${keyPhrase(facts.name)}. Its token was shown once.`,
  }
}

function describeNewKey(facts: NewKey): Description {
  return {
    title: phrase`Create API key ${keyPhrase(facts.name)}`,
    facts: [
      { label: 'Access', value: accessOf(facts) },
      { label: 'Usable from', value: originsOf(facts) },
    ],
    ids: [{ label: 'Name on the account', value: facts.name }],
    underway: 'being created',
  }
}

/** Warns approvers of keys that people can't tell from the new one, because a rotation or a revocation names them alike. */
function sameNameAmong(keys: ApiKey[], { name }: NewKey): NewKeyFinding[] {
  const known = keys.flatMap((key) => (key.name === undefined ? [] : [{ id: shownAs(key), name: labelOf(key.name) }]))
  const namesakes = findNamesakes(labelOf(name), known)
  return namesakes ? [{ code: 'same-name', name: labelOf(name), ...namesakes }] : []
}

/** Names a key as lists show it, which have the end of its token and no id. */
function shownAs({ id, tokenLastSlice }: ApiKey): string {
  return tokenLastSlice === undefined ? id : `…${tokenLastSlice}`
}

/** Warns approvers of a key with full access that works from any address. */
function warningsAbout({ readOnly, allowedIps }: NewKey): NewKeyFinding[] {
  return !readOnly && allowedIps.length === 0 ? [{ code: 'full-access-from-everywhere' }] : []
}

const seenOnce = 'Shown once. Save it in your secrets manager now. If it is lost, request to rotate or revoke the key.'

function accessOf({ readOnly }: NewKey): string {
  return readOnly ? 'read-only' : 'full access'
}

function originsOf({ allowedIps }: NewKey): string {
  return allowedIps.length > 0 ? allowedIps.join(', ') : 'any IP'
}

export const keyForm = {
  callbackId: 'create-api-key',
  title: 'Create an API key',
  name: 'key-name',
  access: 'key-access',
  addresses: 'key-addresses',
} as const

const readOnly = option({ text: 'Read-only', value: 'read-only', description: 'Can read everything and change nothing' })
const fullAccess = option({ text: 'Full access', value: 'full', description: 'Can read and change everything on the account' })

interface KeyFormView {
  metadata: string
  name?: string | undefined
  fullAccess?: boolean | undefined
  addresses?: string | undefined
  reason?: string | undefined
  problem?: Mrkdwn | undefined
}

export function keyModal(view: KeyFormView): ModalView {
  return modal({
    callbackId: keyForm.callbackId,
    title: keyForm.title,
    submit: 'Request approval',
    metadata: view.metadata,
    blocks: [
      ...problemBlocks(view.problem),
      input({
        blockId: keyForm.name,
        label: 'Name',
        hint: 'What it is for, such as ci-deploy. Lockkeeper adds your Slack id and the request id.',
        element: plainTextInput({ actionId: keyForm.name, maxLength: 60, initialValue: view.name }),
      }),
      input({
        blockId: keyForm.access,
        label: 'Access',
        element: radioButtons({
          actionId: keyForm.access,
          options: [readOnly, fullAccess],
          initialOption: view.fullAccess ? fullAccess : readOnly,
        }),
      }),
      input({
        blockId: keyForm.addresses,
        label: 'Allowed addresses',
        hint: 'Addresses or ranges such as 203.0.113.0/24, separated by spaces or commas. Leave empty to allow any IP.',
        optional: true,
        element: plainTextInput({ actionId: keyForm.addresses, maxLength: 1_000, initialValue: view.addresses }),
      }),
      ...reasonField(view.metadata, view.reason),
    ],
  })
}

interface CreateApiKeyParts extends CommandSubmit {
  accountApi: Pick<AccountApi, 'apiKeys'>
}

const nameRule = 'A name has up to 60 letters, digits, spaces and . _ @ + -. It begins with a letter or digit.'

function addressRule(wrong: string[]): Mrkdwn {
  return mrkdwn`Not an IP address, or too large a range: ${truncate(wrong.join(', '), 200, 'plain')}. Use 203.0.113.7 or 203.0.113.0/24.`
}

/** `/infra keys create`: requests a new API key. Only the requester sees its token, once. */
export const createApiKey = { kinds: ['key.create'], create } satisfies FeatureDefinition

function create({ accountApi, submit, openForm }: CreateApiKeyParts): Feature {
  const change = createNewKeyChange(accountApi)

  async function run(call: CommandCall): Promise<void> {
    const label = call.args.join(' ')
    if (!isKeyLabel(label)) throw new UserError(`${nameRule} Nothing was requested.`)
    const { origin, deliveryKey } = call.slashCommand
    const input = { name: uniqueKeyName(label, origin.userId, requestIdFor(deliveryKey)), readOnly: true, allowedIps: [] }
    await submitFromCommand({ submit, openForm }, call, { change, input, form: filledForm })
  }

  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { values, origin, deliveryKey } = submission
    const label = values[keyForm.name]?.trim() ?? ''
    const { addresses, wrong } = parseAllowedAddresses(values[keyForm.addresses] ?? '')
    const fullAccess = values[keyForm.access] === 'full'
    const reason = reasonIn(values)
    const again = (problem: Mrkdwn) =>
      keyModal({
        metadata: submission.metadata,
        name: label,
        fullAccess,
        addresses: values[keyForm.addresses],
        reason,
        problem,
      })
    const refused = refuseForm(
      {
        [keyForm.name]: isKeyLabel(label) ? undefined : mrkdwn`${nameRule}`,
        [keyForm.addresses]: wrong.length > 0 ? addressRule(wrong) : undefined,
      },
      again,
    )
    if (refused) return refused
    const input = { name: uniqueKeyName(label, origin.userId, requestIdFor(deliveryKey)), readOnly: !fullAccess, allowedIps: addresses }
    return submitFromForm(submit, submission, { change, input, reason, blockId: keyForm.name, again })
  }

  function filledForm(metadata: string, { input, reason, problem }: Filling): ModalView {
    const { name, readOnly, allowedIps } = NewKey.parse(input)
    return keyModal({ metadata, name: labelOf(name), fullAccess: !readOnly, addresses: allowedIps.join(', '), reason, problem })
  }

  return {
    commands: [
      {
        words: 'keys create',
        usage: '[<name>]',
        group: 'Keys',
        summary: 'Request a new API key',
        details: mrkdwn`With a name: a read-only key for any IP. Without: opens a form for access and allowed addresses. After the approval, press *Create key*. Its token is shown once, only to you.`,
        examples: ['ci-deploy'],
        need: 'key.create',
        form: (metadata) => keyModal({ metadata }),
        button: { text: 'New key', actionId: 'open-create-api-key', opens: keyForm.title },
        run,
      },
    ],
    changes: [change],
    forms: { 'key.create': filledForm },
    submissions: { [keyForm.callbackId]: submitForm },
  }
}
