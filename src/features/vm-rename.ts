import type { ModalView, PlainTextOption } from '@slack/web-api'
import { z } from 'zod'
import type { AccountApi } from '../account/client.ts'
import type { Inventory } from '../account/inventory.ts'
import { asFarAsRead, leftOutOf, listNow, nothingIfAbsent, type ReadList, readOrRefuse, throwIfOld } from '../account/resource.ts'
import { distinctLabels, findNamesakes, namesakesAre, projectName, sameProject, type VirtualMachine } from '../domain/account.ts'
import {
  type Change,
  type Description,
  explainer,
  type Moment,
  type Observation,
  type Preflight,
  type Words,
  wordsFrom,
} from '../domain/change.ts'
import { CheckFailed, isUnanswered, ListCutError, type Missing, UnknownName, UserError } from '../domain/errors.ts'
import { hostnameProblem, type Phrase, phrase } from '../domain/text.ts'
import { withinOr } from '../domain/within.ts'
import { choiceWords, purposeOf, reasonField, type TypedChoice, whichOne, withPurpose } from '../messages/forms.ts'
import { type CommandSubmit, createChooseOne, type Filling, submitFromCommand, submitFromForm } from '../requests/forms.ts'
import type { Submit } from '../requests/submit.ts'
import { input, modal, plainTextInput, problemBlocks, reasonIn } from '../slack/blocks.ts'
import type { Command, CommandCall, GivenWords } from '../slack/commands.ts'
import { Refusal } from '../slack/errors.ts'
import { fillForm, refuseForm } from '../slack/forms.ts'
import { didYouMean, type NameSource, type WholeCommand, withSuggestions, wrongUsage } from '../slack/help.ts'
import type { Choices, Submission, SubmissionAnswer } from '../slack/interactions.ts'
import { type Candidate, candidatesOf, externalSelect, isChoice, keepChoice, offer, placeOf, preset } from '../slack/pickers.ts'
import { code, type Mrkdwn, mrkdwn } from '../slack/text.ts'
import { isBetween, readPair } from '../slack/typed-words.ts'
import type { Message } from '../slack/web-api.ts'
import type { Feature, FeatureDefinition } from './feature.ts'

const virtualMachineId = z.string()

/** Everything that can prevent a rename, stay unchecked before it, or end it. */
export const RenameFinding = z.discriminatedUnion('code', [
  /** `name`: from an earlier request. */
  z.object({ code: z.literal('no-virtual-machine'), virtualMachineId, name: z.string().optional() }),
  /** `problem`: a sentence that says why the new name is not a hostname. It is shown at once and never stored. */
  z.object({ code: z.literal('not-a-hostname'), problem: z.string() }),
  z.object({ code: z.literal('same-name'), virtualMachineId, name: z.string() }),

  z.object({ code: z.literal('virtual-machine-unread'), virtualMachineId }),
  z.object({ code: z.literal('name-not-shown'), virtualMachineId }),
  z.object({ code: z.literal('names-not-compared'), name: z.string() }),

  /** `count`: how many other virtual machines have the new name. `others`: the ids of up to three of them. */
  z.object({ code: z.literal('name-taken'), name: z.string(), others: z.array(z.string()), count: z.number() }),
  /** The same for the old name. */
  z.object({ code: z.literal('name-shared'), name: z.string(), others: z.array(z.string()), count: z.number() }),

  z.object({ code: z.literal('id-changed'), before: z.string(), now: z.string() }),
  z.object({ code: z.literal('name-changed'), before: z.string(), now: z.string() }),
  z.object({ code: z.literal('project-changed'), before: z.string(), now: z.string() }),

  /** `name`: the old name, or the id if the account API showed no name. */
  z.object({ code: z.literal('virtual-machine-gone'), name: z.string() }),
  z.object({ code: z.literal('renamed-by-others'), name: z.string(), now: z.string() }),
  z.object({ code: z.literal('accepted-without-effect'), now: z.string() }),
  z.object({ code: z.literal('still-called'), now: z.string() }),
])
export type RenameFinding = z.infer<typeof RenameFinding>

/** Throws CheckFailed with the finding and its words. */
export function refuseRename(finding: RenameFinding): never {
  throw new CheckFailed(finding, renameWords(finding))
}

/** Whether an error is about the new name. */
export function isAboutName(error: unknown): boolean {
  return error instanceof CheckFailed && ['not-a-hostname', 'same-name'].includes(error.finding.code)
}

/** Puts a finding into words: a phrase after *Not checked:* for what stays unchecked, and a sentence for everything else. */
export function renameWords(finding: RenameFinding): Words {
  if (finding.code === 'not-a-hostname') return { why: finding.problem, next: chooseAnother }
  const next = nextAfter(finding)
  return { ...wordsFrom(sentenceOf(finding)), next }
}

export const chooseAnother = 'Choose another name.'

/** Says what to do if the same request would fail again. Returns undefined if it may succeed later. */
function nextAfter({ code }: RenameFinding): string | undefined {
  if (code === 'no-virtual-machine' || code === 'virtual-machine-gone') return 'Check the account.'
  return code === 'same-name' ? 'There is nothing left to do.' : undefined
}

function sentenceOf(finding: Exclude<RenameFinding, { code: 'not-a-hostname' }>): Phrase {
  switch (finding.code) {
    case 'no-virtual-machine':
      return finding.name === undefined
        ? phrase`No virtual machine ${finding.virtualMachineId} on the account.`
        : phrase`${finding.name} is no longer on the account, so it can't be renamed.`
    case 'same-name':
      return phrase`The virtual machine is already called ${finding.name}.`
    case 'virtual-machine-unread':
      return phrase`whether virtual machine ${finding.virtualMachineId} exists, and its current name (the account API didn't answer)`
    case 'name-not-shown':
      return phrase`the current name of ${finding.virtualMachineId} (the account API doesn't show it)`
    case 'names-not-compared':
      return phrase`whether another virtual machine is called ${finding.name} (couldn't read all virtual machines)`
    case 'name-taken':
      return phrase`${namesakesAre(finding, { one: 'virtual machine', many: 'virtual machines' })} already called ${finding.name}.`
    case 'name-shared':
      return phrase`${namesakesAre(finding, { one: 'virtual machine', many: 'virtual machines' })} also called ${finding.name}.`
    case 'id-changed':
      return phrase`This was requested as ${finding.before}, but the account API shows it as ${finding.now}. Request it again with that id.`
    case 'name-changed':
      return phrase`It was called ${finding.before} when this was requested, and is called ${finding.now} now.`
    case 'project-changed':
      return phrase`It was in project ${finding.before} when this was requested, and is in ${finding.now} now.`
    case 'virtual-machine-gone':
      return phrase`${finding.name} no longer exists on the account.`
    case 'renamed-by-others':
      return phrase`${finding.name} is now called ${finding.now}. Another change renamed it.`
    case 'accepted-without-effect':
      return phrase`The account API accepted the new name, but the virtual machine is still called ${finding.now}.`
    case 'still-called':
      return phrase`The virtual machine is still called ${finding.now}. The rename had no effect and nothing was changed.`
  }
}

/** The time limit for the list of virtual machines, because the requester waits for it. */
const listMs = 3_000

/** Lists the virtual machines. Returns undefined if they cannot be read in time, which does not prevent a rename. */
export function readMachines(
  { virtualMachines }: Pick<AccountApi, 'virtualMachines'>,
  { copies, signal }: { copies: Pick<Inventory, 'virtualMachines'> | undefined; signal: AbortSignal | undefined },
): Promise<ReadList<VirtualMachine> | undefined> {
  const list = asFarAsRead(listNow(copies?.virtualMachines, () => virtualMachines.list({ signal })))
  return withinOr(
    listMs,
    list.catch(() => undefined),
    undefined,
  )
}

/** The names of a virtual machine, before and after its rename. */
interface Names {
  virtualMachineId: string
  oldName: string | undefined
  name: string
}

/** Finds the other virtual machines whose name looks the same as the new one or the old one. `unchecked`: there may be others. */
export function namesakesAmong(
  read: ReadList<VirtualMachine> | undefined,
  { virtualMachineId, oldName, name }: Names,
): { unchecked: RenameFinding[]; warnings: RenameFinding[] } {
  const named = (read?.items ?? []).map((machine) => ({ id: machine.id, name: machine.name ?? '' }))
  const shared = oldName === undefined ? undefined : findNamesakes(oldName, named, virtualMachineId)
  const warnings: RenameFinding[] = oldName !== undefined && shared ? [{ code: 'name-shared', name: oldName, ...shared }] : []
  const found = findNamesakes(name, named, virtualMachineId)
  if (found) return { unchecked: [], warnings: [...warnings, { code: 'name-taken', name, ...found }] }
  const isWhole = read !== undefined && read.cut === undefined
  return { unchecked: isWhole ? [] : [{ code: 'names-not-compared', name }], warnings }
}

interface Rename {
  id: string
  /** Undefined if the account API showed no name. */
  from: string | undefined
  to: string
}

/**
 * Returns what a read of the virtual machine means for a rename. Only the new name means done. The account API may write it in another
 * case.
 */
export function observeRename({ id, from, to }: Rename, seen: Pick<VirtualMachine, 'name'> | 'gone', moment: Moment): Observation {
  const subject = from ?? id
  if (seen === 'gone') return { is: 'failed', cause: { code: 'virtual-machine-gone', name: subject } }
  const { name } = seen
  if (name === undefined) return { is: 'unclear' }
  if (name === to) return { is: 'done' }
  if (from !== undefined && name !== from) {
    if (alike(name, to) && !alike(from, to)) return { is: 'done' }
    return { is: 'superseded', cause: { code: 'renamed-by-others', name: subject, now: name } }
  }
  if (moment.isUnsettled) return { is: 'unclear' }
  if (moment.phase === 'accepted') return { is: 'failed', cause: { code: 'accepted-without-effect', now: name } }
  return { is: 'not-started', cause: { code: 'still-called', now: name } }
}

/** Compares hostnames without regard to case. */
function alike(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

export const RenameInput = z.object({ virtualMachineId: z.string(), name: z.string() })
export type RenameInput = z.infer<typeof RenameInput>

/** What the account shows about a virtual machine. Members that could not be read are absent. */
export const RenameFacts = z.object({
  virtualMachineId: z.string(),
  oldName: z.string().optional(),
  newName: z.string(),
  project: z.object({ id: z.string(), name: z.string().optional(), slug: z.string().optional() }).optional(),
  site: z.string().optional(),
  address: z.string().optional(),
})
export type RenameFacts = z.infer<typeof RenameFacts>

/** Creates the change that renames a virtual machine (interface specification, "PATCH /virtual_machines/{virtual_machine_id}"). */
export function createRenameChange(
  accountApi: Pick<AccountApi, 'virtualMachines'>,
  copies?: Pick<Inventory, 'virtualMachines'>,
): Change<RenameInput, RenameFacts> {
  return {
    kind: 'vm.rename',
    label: 'renaming a virtual machine',
    input: RenameInput,
    facts: RenameFacts,
    resource: ({ virtualMachineId }) => `virtual_machine:${virtualMachineId}`,
    project: (facts) => facts.project ?? 'unknown',
    preflight: async (input, { signal, forRequest, earlier }) => {
      refuseBadName(input.name)
      const { virtualMachineId } = input
      const [machine, machines] = await Promise.all([
        readOrRefuse(
          () => accountApi.virtualMachines.get(virtualMachineId, { signal }),
          () => refuseRename({ code: 'no-virtual-machine', virtualMachineId, ...nameIn(earlier, virtualMachineId) }),
        ),
        forRequest ? readMachines(accountApi, { copies, signal }) : undefined,
      ])
      const { unchecked, ...checked } = checkRename(input, machine)
      if (!forRequest) return { ...checked, unchecked }
      const namesakes = namesakesAmong(machines, {
        virtualMachineId: machine?.id ?? virtualMachineId,
        oldName: machine?.name,
        name: input.name,
      })
      return { ...checked, unchecked: [...unchecked, ...namesakes.unchecked], warnings: namesakes.warnings }
    },
    differences: differencesOf,
    explain: explainer(RenameFinding, renameWords),
    subject: subjectOf,
    describe: describeRename,
    run: async ({ virtualMachineId, name }, _, { onAnswer }) => {
      const renamed = await accountApi.virtualMachines.rename(virtualMachineId, name, { onAnswer })
      return renamed.name === name ? 'done' : 'tracking'
    },
    observe: async ({ virtualMachineId, name }, { oldName }, moment, { signal }) => {
      const seen = (await accountApi.virtualMachines.get(virtualMachineId, { signal }).catch(nothingIfAbsent)) ?? 'gone'
      return observeRename({ id: virtualMachineId, from: oldName, to: name }, seen, moment)
    },
    doneSentence: (facts) => phrase`${subjectOf(facts)} is now called ${facts.newName}.`,
    reverse: (_, facts) => {
      const { virtualMachineId, oldName, newName } = facts
      if (oldName === undefined || hostnameProblem(oldName) !== undefined) return undefined
      return { input: { virtualMachineId, name: oldName }, facts: { ...facts, oldName: newName, newName: oldName }, label: 'Rename back' }
    },
  }
}

function nameIn(earlier: RenameFacts | undefined, virtualMachineId: string): { name?: string } {
  return earlier?.virtualMachineId === virtualMachineId && earlier.oldName !== undefined ? { name: earlier.oldName } : {}
}

/** Throws CheckFailed if the name is not a hostname. */
export function refuseBadName(name: string): void {
  const problem = hostnameProblem(name)
  if (problem !== undefined) refuseRename({ code: 'not-a-hostname', problem })
}

/** Checks whether the rename can be requested. Throws CheckFailed if it cannot. Lists what could not be read or is not shown. */
export function checkRename(typed: RenameInput, machine: VirtualMachine | undefined): Preflight<RenameFacts, RenameInput> {
  const { name } = typed
  const virtualMachineId = machine?.id ?? typed.virtualMachineId
  if (!machine) {
    return {
      facts: { virtualMachineId, newName: name },
      unchecked: [{ code: 'virtual-machine-unread', virtualMachineId } satisfies RenameFinding],
      incomplete: true,
    }
  }
  const { name: oldName, project, site, primaryIpv4 } = machine
  if (oldName === name) refuseRename({ code: 'same-name', virtualMachineId, name })
  return {
    facts: {
      virtualMachineId,
      newName: name,
      oldName,
      ...(project
        ? { project: { id: project.id, ...(project.name ? { name: project.name } : {}), ...(project.slug ? { slug: project.slug } : {}) } }
        : {}),
      site,
      address: primaryIpv4,
    },
    input: { virtualMachineId, name },
    unchecked: oldName === undefined ? [{ code: 'name-not-shown', virtualMachineId } satisfies RenameFinding] : [],
    incomplete: false,
  }
}

/** Finds what has changed since the approval. Compares only what both reads show. */
export function differencesOf(approved: RenameFacts, now: RenameFacts): RenameFinding[] {
  const subject = subjectOf(approved)
  const differences: RenameFinding[] = []
  // If the account API did not answer the request, this is the typed id, and another request may hold the lock of the real one.
  if (approved.virtualMachineId !== now.virtualMachineId) {
    differences.push({ code: 'id-changed', before: approved.virtualMachineId, now: now.virtualMachineId })
  }
  if (approved.oldName !== undefined && now.oldName !== undefined && approved.oldName !== now.oldName) {
    differences.push({ code: 'name-changed', before: subject, now: now.oldName })
  }
  if (approved.project && now.project && sameProject(approved.project, now.project) === false) {
    const [then, today] = distinctLabels(approved.project, now.project, ['name', 'slug'])
    differences.push({ code: 'project-changed', before: then, now: today })
  }
  return differences
}

export function describeRename(facts: RenameFacts): Description {
  const { virtualMachineId, oldName, newName, project, site, address } = facts
  return {
    title: phrase`Rename ${subjectOf(facts)} → ${newName}`,
    facts: [
      ...(oldName === undefined ? [{ label: 'Old name', value: 'unknown' }] : []),
      { label: 'Project', value: project ? projectName(project) : 'unknown' },
      { label: 'Site', value: site ?? 'unknown' },
      { label: 'Address', value: address ?? 'unknown' },
    ],
    ids: oldName === undefined ? [] : [{ label: 'Virtual machine', value: virtualMachineId }],
    underway: 'being renamed',
  }
}

function subjectOf({ virtualMachineId, oldName }: RenameFacts): string {
  return oldName ?? virtualMachineId
}

export const renameForm = {
  callbackId: 'rename-virtual-machine',
  title: 'Rename a virtual machine',
  virtualMachine: 'virtual-machine',
  newName: 'new-name',
} as const

interface RenameFormView {
  metadata: string
  virtualMachine?: PlainTextOption | undefined
  newName?: string | undefined
  reason?: string | undefined
  /** Why the form was refused. Shown on top, above what was entered. */
  problem?: Mrkdwn | undefined
}

export function renameModal({ metadata, virtualMachine, newName, reason, problem }: RenameFormView): ModalView {
  const purpose = purposeOf(metadata, [virtualMachine?.value, newName], renameForm.title)
  return modal({
    callbackId: renameForm.callbackId,
    title: purpose.title,
    submit: 'Request approval',
    metadata,
    blocks: [
      ...problemBlocks(problem),
      input({
        blockId: renameForm.virtualMachine,
        label: 'Virtual machine',
        hint: 'Search by name, id, address, project or site.',
        element: externalSelect({
          actionId: renameForm.virtualMachine,
          placeholder: 'Choose a virtual machine',
          initialOption: virtualMachine,
        }),
      }),
      input({
        blockId: renameForm.newName,
        label: 'New name',
        hint: 'Also its hostname: letters (a–z, A–Z), digits, hyphens and dots.',
        element: plainTextInput({ actionId: renameForm.newName, initialValue: newName }),
      }),
      ...reasonField(metadata, reason, purpose),
    ],
  })
}

type Pickable = Pick<VirtualMachine, 'id' | 'name' | 'primaryIpv4' | 'project' | 'site'>

export function virtualMachineChoices(all: VirtualMachine[], typed: string, missing?: Missing): Choices {
  return offer([...candidates(all).values()], typed, missing)
}

export function virtualMachineOption(machine: Pickable): PlainTextOption | undefined {
  return preset(candidateOf(machine))
}

const candidates = candidatesOf<Pickable>(candidateOf)

/** Two virtual machines can have the same name and place, so the small print has the address and the id. */
function candidateOf({ id, name, primaryIpv4, project, site }: Pickable): Candidate {
  const place = placeOf(project, site)
  return {
    value: id,
    text: `${name ?? id}${place ? ` (${place})` : ''}`,
    description: [primaryIpv4, name === undefined ? undefined : id].filter((part) => part !== undefined).join('  ·  '),
    terms: [primaryIpv4, project?.slug],
  }
}

/** Returns where the names for suggestions come from. `command` is the slash command's name. */
export function namesOf(inventory: Pick<Inventory, 'virtualMachines'>, command: string): Record<string, NameSource> {
  const names = async () => (await asFarAsRead(inventory.virtualMachines())).items.map(({ name }) => name)
  return { 'virtual machine': { names, list: `${command} vms` } }
}

/** Creates the form of an incomplete rename, filled with the virtual machine that was typed. */
export function createFillRename(inventory: Pick<Inventory, 'virtualMachines'>) {
  return async function fillRename(metadata: string, { args: [typed], command, problem }: GivenWords): Promise<ModalView> {
    if (typed === undefined) return renameModal({ metadata, problem })
    const lookUp = withSuggestions(find(typed), namesOf(inventory, command))
    return fillForm(typed, lookUp, (filled) =>
      'problem' in filled
        ? renameModal({ metadata, problem: filled.problem })
        : renameModal({ metadata, virtualMachine: virtualMachineOption(filled) }),
    )
  }

  async function find(typed: string): Promise<VirtualMachine> {
    const { items, ...missing } = await asFarAsRead(inventory.virtualMachines())
    const byId = items.find(({ id }) => id === typed)
    if (byId) return byId
    const machines = items.filter(({ name }) => name?.toLowerCase() === typed.toLowerCase())
    const [only, ...others] = machines
    if (only && others.length === 0) return only
    // An item that is missing in a list that was cut off may still exist. In that case this read throws.
    if (!only) await inventory.virtualMachines()
    if (!only) throwIfOld(missing)
    if (!only) throw new UnknownName('virtual machine', typed)
    throw new Refusal(mrkdwn`${machines.length} virtual machines are called ${code(typed)}. Choose one below.`)
  }
}

export const renameThisOne = 'rename-this-one'

/** Says how the command is used. `rest` are the words that are too many, after `args`. */
export function usage(name: string, args: string[], rest: string[]): Mrkdwn {
  const words = mrkdwn`Usage: ${code(`${name} vm rename <vm> <new name>`)}, or leave the new name out to open a form. Put names with spaces in quotes.`
  return wrongUsage(name, words, rest, { words: 'vm rename', args })
}

/** Returns the hostname that a name with spaces stands for. Undefined without a space, or if the words do not make a hostname. */
export function hyphenated(name: string, rest: string[]): string | undefined {
  const words = [name, ...rest].flatMap((word) => word.split(/\s+/))
  const joined = words.filter((word) => word !== '').join('-')
  // With a `to` among them, the first words are the machine's name without its quotes.
  const isName = words.length > 1 && !words.some(isBetween) && hostnameProblem(joined) === undefined
  return isName ? joined : undefined
}

/** Refuses a name with spaces, and suggests the rename that was probably meant. */
export function noSpaces(command: string, meant: Omit<WholeCommand, 'words'>): Mrkdwn {
  return mrkdwn`Nothing was requested. A name can't contain spaces. ${didYouMean(command, [{ words: 'vm rename', ...meant }])}`
}

/** Asks which of the virtual machines with the typed name is meant, with a button for each. */
export function whichMachine(machines: VirtualMachine[], { typed, name, ...call }: TypedChoice & { typed: string; name: string }): Message {
  return whichOne({
    question: mrkdwn`${machines.length} virtual machines are called ${code(typed)}. Which one should be renamed to ${code(name)}?`,
    choices: machines.map((machine) => ({ words: describe(machine), input: { virtualMachineId: machine.id, name } satisfies RenameInput })),
    actionId: renameThisOne,
    byId: `${call.command} vm rename <id> ${name}`,
    ...call,
  })
}

function describe({ id, name, project, site, primaryIpv4, status }: VirtualMachine): Mrkdwn {
  return choiceWords({ name: name ?? id, id }, [placeOf(project, site), primaryIpv4, status])
}

function wrongName(name: string): Mrkdwn | undefined {
  const problem = hostnameProblem(name)
  if (problem === undefined) return undefined
  const meant = hyphenated(name, [])
  return meant === undefined ? mrkdwn`${problem} ${chooseAnother}` : mrkdwn`A name can't contain spaces. Did you mean ${code(meant)}?`
}

/** Creates the form of a rename. `filledForm` shows it filled, `formFor` for one virtual machine, and `submitForm` requests the rename. */
export function createRenameForm({ submit, change }: { submit: Submit; change: Change<RenameInput, RenameFacts> }) {
  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { values, chosen } = submission
    const virtualMachineId = values[renameForm.virtualMachine] ?? ''
    const name = values[renameForm.newName]?.trim() ?? ''
    const reason = reasonIn(values)
    const again = (problem: Mrkdwn) =>
      renameModal({
        metadata: submission.metadata,
        virtualMachine: keepChoice(chosen[renameForm.virtualMachine]),
        newName: name,
        reason,
        problem,
      })
    const refused = refuseForm(
      {
        [renameForm.virtualMachine]: isChoice(virtualMachineId) ? undefined : mrkdwn`Choose a virtual machine.`,
        [renameForm.newName]: wrongName(name),
      },
      again,
    )
    if (refused) return refused
    const blockId = (error: unknown) => (isAboutName(error) ? renameForm.newName : renameForm.virtualMachine)
    return submitFromForm(submit, submission, { change, input: { virtualMachineId, name }, reason, blockId, again })
  }

  function filledForm(metadata: string, { reason, problem, title, ...filling }: Filling): ModalView {
    const [{ virtualMachineId: id, name }, facts] = [RenameInput.parse(filling.input), RenameFacts.parse(filling.facts)]
    return renameModal({
      metadata: withPurpose(metadata, [id, name], title),
      virtualMachine: virtualMachineOption({
        id,
        name: facts.oldName,
        primaryIpv4: facts.address,
        project: facts.project,
        site: facts.site,
      }),
      newName: name,
      reason,
      problem,
    })
  }

  /** Renders the form for one virtual machine, named as in a list. */
  function formFor(metadata: string, { id, text }: { id: string; text: string }): ModalView {
    return renameModal({ metadata, virtualMachine: preset({ text, value: id }) })
  }

  return { filledForm, formFor, submitForm }
}

type Resolved = { is: 'one'; id: string } | { is: 'several'; machines: VirtualMachine[] }

/**
 * Finds the virtual machine that a person typed: by id, or else by its current name, which several can have. Throws UnknownName if there
 * is none. `copies`: the list that is shared.
 */
export function createResolve({ virtualMachines }: Pick<AccountApi, 'virtualMachines'>, copies?: Pick<Inventory, 'virtualMachines'>) {
  async function findById(typed: string, signal?: AbortSignal): Promise<string | undefined> {
    try {
      return (await virtualMachines.get(typed, { signal }).catch(nothingIfAbsent))?.id
    } catch (error) {
      // The text cannot be an id, but it can still be a name.
      if (error instanceof UserError) return undefined
      // A typed id is used as it is. The preflight check says what could not be read.
      if (isUnanswered(error) && isId(typed)) return typed
      throw error
    }
  }

  return async function resolve(typed: string, { signal }: { signal?: AbortSignal } = {}): Promise<Resolved> {
    try {
      const all = await (copies ? copies.virtualMachines() : virtualMachines.list({ signal }))
      if (all.some(({ id }) => id === typed)) return { is: 'one', id: typed }
      return chooseMachine(typed, all)
    } catch (error) {
      // An id needs no list.
      const id = isId(typed) || error instanceof ListCutError ? await findById(typed, signal) : undefined
      if (id === undefined) throw error
      return { is: 'one', id }
    }
  }
}

export function chooseMachine(typed: string, all: VirtualMachine[]): Resolved {
  const wanted = typed.trim().toLowerCase()
  const machines = all.filter(({ name }) => name?.toLowerCase() === wanted)
  const [only, ...others] = machines
  if (!only) throwIfOld(leftOutOf(all))
  if (!only) throw new UnknownName('virtual machine', typed)
  return others.length === 0 ? { is: 'one', id: only.id } : { is: 'several', machines }
}

/** Whether it looks like an id of the service: `vm_…`. Anything else may be a name. */
function isId(typed: string): boolean {
  return /^vm_\w+$/.test(typed)
}

interface RenameParts extends CommandSubmit {
  accountApi: AccountApi
  inventory: Pick<Inventory, 'virtualMachines' | 'prefetch'>
}

/** `/infra vm rename`: requests another name for a virtual machine, by arguments or by a form. */
export const renameVirtualMachine = { kinds: ['vm.rename'], create } satisfies FeatureDefinition

function create({ accountApi, inventory, submit, openForm }: RenameParts): Feature {
  const change = createRenameChange(accountApi, inventory)
  const { filledForm, formFor, submitForm } = createRenameForm({ submit, change })

  async function run(call: CommandCall): Promise<void> {
    const { origin, answer, reason } = call.slashCommand
    const { first: typed, second: name, rest } = readPair(call.args)
    if (typed === undefined || name === undefined) throw new Refusal(usage(origin.command, [], []))
    const meant = hyphenated(name, rest)
    if (meant !== undefined) throw new Refusal(noSpaces(origin.command, { args: [typed, meant], reason }))
    if (rest.length > 0) throw new Refusal(usage(origin.command, [typed, name], rest))
    refuseBadName(name)
    const search = createResolve(accountApi, inventory)(typed, { signal: AbortSignal.timeout(8_000) })
    const found = await withSuggestions(search, namesOf(inventory, origin.command))
    if (found.is === 'several') return answer.ephemeral(whichMachine(found.machines, { typed, name, reason, command: origin.command }))
    await submitFromCommand({ submit, openForm }, call, { change, input: { virtualMachineId: found.id, name }, form: filledForm })
  }

  const command: Command = {
    words: 'vm rename',
    usage: '[<vm> <new name>]',
    group: 'Change',
    summary: 'Rename a virtual machine',
    details: mrkdwn`The machine by name or id. The new name is also its hostname: letters (a–z, A–Z), digits, hyphens and dots. An incomplete command opens a form.`,
    examples: ['preview-1 preview-eu-1', 'preview-1 to preview-eu-1', 'preview-1'],
    need: 'vm.rename',
    form: createFillRename(inventory),
    isComplete: (args) => readPair(args).second !== undefined,
    button: { text: 'Rename VM', actionId: 'open-rename-virtual-machine', opens: renameForm.title },
    prepare: () => inventory.prefetch('virtualMachines'),
    run,
  }

  return {
    commands: [command],
    changes: [change],
    forms: { 'vm.rename': filledForm },
    itemActions: [{ of: 'virtual-machine', kind: 'vm.rename', label: 'Rename…', form: formFor }],
    clicks: { [renameThisOne]: createChooseOne({ submit, openForm, change, form: filledForm }) },
    submissions: { [renameForm.callbackId]: submitForm },
    options: {
      [renameForm.virtualMachine]: async ({ typed }) => {
        const { items, ...missing } = await asFarAsRead(inventory.virtualMachines())
        return virtualMachineChoices(items, typed, missing)
      },
    },
  }
}
