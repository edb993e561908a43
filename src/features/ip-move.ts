import { isIP } from 'node:net'
import type { ModalView, PlainTextOption } from '@slack/web-api'
import type { AccountApi } from '../account/client.ts'
import type { Inventory } from '../account/inventory.ts'
import { asFarAsRead, findInList, nothingIfAbsent, throwIfOld } from '../account/resource.ts'
import { type ElasticIp, isBgp, type Server } from '../domain/account.ts'
import type { Change, Offer } from '../domain/change.ts'
import { type Missing, UnknownName } from '../domain/errors.ts'
import { addressProblem, serverNameProblem } from '../domain/text.ts'
import { within, withinOr } from '../domain/within.ts'
import { chooseBelow, purposeOf, reasonField, serverWords, type TypedChoice, whichOne, withPurpose } from '../messages/forms.ts'
import { canMoveTo, isAboutElasticIp, MoveFacts, MoveInput, refuseMove, sameAddress } from '../moves/move.ts'
import { chooseServer, createMoveChange, findServers, moveKind, type ServerCopies, serversMeant } from '../moves/move-change.ts'
import type { Access } from '../requests/access.ts'
import { type CommandSubmit, createChooseOne, createOpenOffer, type Filling, submitFromCommand, submitFromForm } from '../requests/forms.ts'
import type { Submit } from '../requests/submit.ts'
import { input, modal, problemBlocks, reasonIn } from '../slack/blocks.ts'
import type { Command, CommandCall, GivenWords } from '../slack/commands.ts'
import { Refusal } from '../slack/errors.ts'
import { fillForm, refuseForm } from '../slack/forms.ts'
import { type NameSource, withSuggestions, wrongUsage } from '../slack/help.ts'
import type { Choices, Click, OptionsQuery, Submission, SubmissionAnswer, Values } from '../slack/interactions.ts'
import { readMetadata, writeMetadata } from '../slack/payloads.ts'
import {
  type Candidate,
  candidatesOf,
  externalSelect,
  isChoice,
  keepChoice,
  offer,
  placeOf,
  preset,
  serverCandidate,
  serverCandidates,
} from '../slack/pickers.ts'
import { code, type Mrkdwn, mrkdwn } from '../slack/text.ts'
import { isBetween, type Pair, readPair } from '../slack/typed-words.ts'
import type { Message } from '../slack/web-api.ts'
import type { Feature, FeatureDefinition } from './feature.ts'

/**
 * Reads `<elastic ip> [to] <server>`. None of them contains a comma, so a comma without a space separates them too. No Elastic IP is called
 * `to`, so `to web-2` names a server only.
 */
export function readMove(args: string[]): Pair {
  const words = args.flatMap((word) => word.split(',')).filter((word) => word !== '')
  return isBetween(words[0]) ? { first: undefined, second: words[1], rest: words.slice(2) } : readPair(words)
}

/** Whether a move is complete. One with too many words counts as complete, so that it is refused. */
export function isWholeMove(args: string[]): boolean {
  const { first, second } = readMove(args)
  return first !== undefined && second !== undefined
}

/** Whether two Elastic IPs were typed, where one goes. */
export function areElasticIps(first: string | undefined, second: string): boolean {
  return first !== undefined && looksLikeElasticIp(first) && looksLikeElasticIp(second)
}

function looksLikeElasticIp(word: string): boolean {
  return isIP(word.replace(/\/\d{1,3}$/, '')) !== 0 || /^u?eip_\w+$/.test(word) || addressProblem(word) !== undefined
}

export const moveForm = {
  callbackId: 'move-elastic-ip',
  title: 'Move an Elastic IP',
  elasticIp: 'elastic-ip',
  server: 'server',
} as const

/** The id of the button that opens the form for an Elastic IP that was looked up. */
export const moveThis = 'move-this-elastic-ip'

interface MoveFormView {
  metadata: string
  elasticIp?: PlainTextOption | undefined
  server?: PlainTextOption | undefined
  /** The block id of the server. Default: `server`. */
  serverBlock?: string | undefined
  reason?: string | undefined
  /** Why the form was refused. Shown on top, above what was entered. */
  problem?: Mrkdwn | undefined
}

/**
 * Returns the block id of the server for an Elastic IP. A new id makes Slack drop the options and the choice that belong to the Elastic IP
 * chosen before.
 */
export function serverBlockFor(elasticIpId: string | undefined): string {
  return `${moveForm.server}:${elasticIpId ?? ''}`
}

/** Finds the block id of the server in a form as it was filled in. */
export function serverBlockIn(values: Values): string {
  return Object.keys(values).find((blockId) => blockId.startsWith(`${moveForm.server}:`)) ?? moveForm.server
}

export function moveModal({ metadata, elasticIp, server, serverBlock = moveForm.server, reason, problem }: MoveFormView): ModalView {
  const purpose = purposeOf(metadata, [elasticIp?.value, server?.value], moveForm.title)
  return modal({
    callbackId: moveForm.callbackId,
    title: purpose.title,
    submit: 'Request approval',
    metadata,
    blocks: [
      ...problemBlocks(problem),
      input({
        blockId: moveForm.elasticIp,
        // The offered servers depend on this choice, and Slack does not send it with an option load.
        dispatchAction: true,
        label: 'Elastic IP',
        hint: 'Search by address, id, server, project or site.',
        element: externalSelect({
          actionId: moveForm.elasticIp,
          placeholder: 'Choose an Elastic IP',
          minQueryLength: 0,
          ...(elasticIp ? { initialOption: elasticIp } : {}),
        }),
      }),
      input({
        blockId: serverBlock,
        // What the form is called depends on this choice if an earlier request filled it.
        dispatchAction: readMetadata(metadata)?.filled !== undefined,
        label: 'Server',
        hint: 'Must be in the same project and site. Search by hostname, id, address, project or site.',
        element: externalSelect({
          actionId: moveForm.server,
          placeholder: 'Choose a server',
          minQueryLength: 0,
          ...(server ? { initialOption: server } : {}),
        }),
      }),
      ...reasonField(metadata, reason, purpose),
    ],
  })
}

/** Offers the Elastic IPs, without BGP addresses. */
export function elasticIpChoices(all: ElasticIp[], typed: string, missing?: Missing): Choices {
  const offered = [...elasticIpCandidates(all)].filter(([elasticIp]) => !isBgp(elasticIp))
  return offer(
    offered.map(([, candidate]) => candidate),
    typed,
    missing,
  )
}

/** Offers the servers that this Elastic IP can move to. Offers every server while none is chosen. */
export function serverChoices(all: Server[], typed: string, elasticIp: ElasticIp | undefined, missing?: Missing): Choices {
  const candidates = serverCandidates(all)
  const assigned = elasticIp && serverOf(elasticIp, all)
  const targets = elasticIp ? [...candidates].filter(([target]) => canMoveTo(elasticIp, target, assigned)) : [...candidates]
  return offer(
    targets.map(([, candidate]) => candidate),
    typed,
    missing,
  )
}

export function elasticIpOption(elasticIp: ElasticIp): PlainTextOption | undefined {
  return preset(elasticIpCandidate(elasticIp))
}

export function serverOption(server: Server): PlainTextOption | undefined {
  return preset(serverCandidate(server))
}

/** Finds the server that the Elastic IP is on. */
export function serverOf(elasticIp: ElasticIp, all: Server[]): Server | undefined {
  return all.find(({ id }) => id === elasticIp.server?.id)
}

const elasticIpCandidates = candidatesOf(elasticIpCandidate)

function elasticIpCandidate({ id, address, status, server, project, site }: ElasticIp): Candidate {
  // The account also shows none for the addresses of a server that is not active.
  const where = server ? ` on ${server.hostname ?? server.id}` : ', no server shown'
  return {
    value: id,
    text: `${address}${where}${status === 'active' ? '' : ` (${status})`}`,
    description: [placeOf(project, site?.slug ?? site?.name), address === id ? undefined : id].filter(Boolean).join('  ·  '),
    terms: [server?.id, project?.slug, site?.name],
  }
}

/**
 * Offers servers that fit the chosen Elastic IP. Slack does not send the other fields with an option load (slackapi/bolt-js 1146), so the
 * choice arrives as a click, and is stored in the form's metadata.
 */
export function createServerPicker(inventory: Pick<Inventory, 'elasticIps' | 'servers'>) {
  async function offerServers({ typed, metadata, values }: OptionsQuery): Promise<Choices> {
    const elasticIpId = readMetadata(metadata)?.extra ?? values[moveForm.elasticIp]
    const chosen = isChoice(elasticIpId) ? asFarAsRead(inventory.elasticIps()) : { items: [] }
    const [servers, elasticIps] = await Promise.all([asFarAsRead(inventory.servers()), chosen])
    const elasticIp = elasticIps.items.find(({ id }) => id === elasticIpId)
    const { items, ...missing } = servers
    return serverChoices(items, typed, elasticIp, missing)
  }

  /** Updates the form for another Elastic IP. A chosen server stays if the Elastic IP can move there. */
  async function elasticIpChosen({ view }: Click): Promise<void> {
    if (!view) return
    const before = readMetadata(view.metadata)?.extra
    const elasticIp = keepChoice(view.chosen[moveForm.elasticIp])
    if (elasticIp?.value === before) return
    const server = keepChoice(view.chosen[serverBlockIn(view.values)])
    const stays = server !== undefined && (await canGo(elasticIp?.value, server.value))
    // Before the first choice the field keeps its block id, because the person may be typing in it.
    const isUsed = before !== undefined || server !== undefined
    await view.update(
      moveModal({
        metadata: withElasticIp(view.metadata, elasticIp?.value),
        elasticIp,
        server: stays ? server : undefined,
        serverBlock: isUsed ? serverBlockFor(elasticIp?.value) : undefined,
        reason: reasonIn(view.values),
      }),
    )
  }

  /** Renders a form again that an earlier request filled, because another server makes it another change. */
  async function serverChosen({ view }: Click): Promise<void> {
    if (!view) return
    const serverBlock = serverBlockIn(view.values)
    await view.update(
      moveModal({
        metadata: view.metadata,
        elasticIp: keepChoice(view.chosen[moveForm.elasticIp]),
        server: keepChoice(view.chosen[serverBlock]),
        serverBlock,
        reason: reasonIn(view.values),
      }),
    )
  }

  /** Compares with the cached lists. If they cannot be read within 1 s, the person chooses the server again. */
  async function canGo(elasticIpId: string | undefined, serverId: string | undefined): Promise<boolean> {
    const lists = await within(1_000, Promise.all([inventory.elasticIps(), inventory.servers()])).catch(() => undefined)
    if (lists?.is !== 'ready') return false
    const [elasticIps, servers] = lists.value
    const elasticIp = elasticIps.find(({ id }) => id === elasticIpId)
    const server = servers.find(({ id }) => id === serverId)
    return elasticIp !== undefined && server !== undefined && canMoveTo(elasticIp, server, serverOf(elasticIp, servers))
  }

  return { offerServers, elasticIpChosen, serverChosen }
}

/** Adds the chosen Elastic IP to the metadata of a form. */
export function withElasticIp(metadata: string, elasticIpId: string | undefined): string {
  const known = readMetadata(metadata)
  return known ? writeMetadata({ ...known, extra: elasticIpId }) : metadata
}

/** Returns where the names for suggestions come from. `command` is the slash command's name. */
export function namesOf(inventory: Pick<Inventory, 'elasticIps' | 'servers'>, command: string): Record<string, NameSource> {
  return {
    'Elastic IP': {
      names: async () => (await asFarAsRead(inventory.elasticIps())).items.map(({ address }) => address),
      list: `${command} ip list`,
    },
    server: {
      names: async () => (await asFarAsRead(inventory.servers())).items.map(({ hostname }) => hostname),
      list: `${command} servers`,
    },
  }
}

interface Filled {
  elasticIp?: PlainTextOption | undefined
  server?: PlainTextOption | undefined
}

/** Creates the form of an incomplete move, filled with the Elastic IP or the server that was typed. */
export function createFillMove(inventory: Pick<Inventory, 'elasticIps' | 'servers'>) {
  return async function fillMove(metadata: string, { args, command, problem }: GivenWords): Promise<ModalView> {
    const { first, second } = readMove(args)
    const typed = first ?? second
    if (typed === undefined) return moveModal({ metadata, problem })
    const lookUp = withSuggestions(find({ typed, isServer: first === undefined }), namesOf(inventory, command))
    return fillForm(typed, lookUp, (filled) => {
      if ('problem' in filled) return moveModal({ metadata, problem: filled.problem })
      return moveModal({ metadata: withElasticIp(metadata, filled.elasticIp?.value), ...filled })
    })
  }

  /** A single word is an Elastic IP or, if there is none of that name, a server. */
  async function find({ typed, isServer }: { typed: string; isServer: boolean }): Promise<Filled> {
    const [elasticIps, servers] = await Promise.all([asFarAsRead(inventory.elasticIps()), asFarAsRead(inventory.servers())])
    const elasticIp = isServer ? undefined : elasticIps.items.find(({ id, address }) => id === typed || sameAddress(address, typed))
    if (elasticIp && isBgp(elasticIp)) refuseMove({ code: 'bgp-address', address: elasticIp.address })
    if (elasticIp) return { elasticIp: elasticIpOption(elasticIp) }
    const named = servers.items.filter(({ id, hostname }) => id === typed || hostname?.toLowerCase() === typed.toLowerCase())
    if (named.length === 0) {
      // An item that is missing in a list that was cut off may still exist. In that case these reads throw.
      await Promise.all([inventory.elasticIps(), inventory.servers()])
      for (const list of [elasticIps, servers]) throwIfOld(list)
    }
    if (named.length === 0 && !isServer) throw new UnknownName('Elastic IP', typed, serverNameProblem(typed))
    if (named.length > 1) throw new Refusal(chooseBelow(typed, named.length))
    return { server: serverOption(chooseServer(typed, named, undefined)) }
  }
}

interface MoveFormParts {
  submit: Submit
  change: Change<MoveInput, MoveFacts>
}

/** Creates the form of a move. `filledForm` shows it filled, `formFor` for one Elastic IP, and `submitForm` requests the move. */
export function createMoveForm({ submit, change }: MoveFormParts) {
  function filledForm(metadata: string, { reason, problem, title, ...filling }: Filling): ModalView {
    const [input, facts] = [MoveInput.parse(filling.input), MoveFacts.parse(filling.facts)]
    return moveModal({
      metadata: withElasticIp(withPurpose(metadata, [input.elasticIpId, input.serverId], title), input.elasticIpId),
      elasticIp: preset({ text: facts.address ?? input.elasticIpId, value: input.elasticIpId }),
      server: preset({ text: facts.to.name, value: input.serverId }),
      reason,
      problem,
    })
  }

  /** Renders the form for one Elastic IP, named as in a list. */
  function formFor(metadata: string, elasticIp: { id: string; text: string }): ModalView {
    return moveModal({
      metadata: withElasticIp(metadata, elasticIp.id),
      elasticIp: preset({ text: elasticIp.text, value: elasticIp.id }),
    })
  }

  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { values, chosen } = submission
    const serverBlock = serverBlockIn(values)
    const reason = reasonIn(values)
    const again = (problem: Mrkdwn) =>
      moveModal({
        metadata: submission.metadata,
        elasticIp: keepChoice(chosen[moveForm.elasticIp]),
        server: keepChoice(chosen[serverBlock]),
        serverBlock,
        reason,
        problem,
      })
    const input = { elasticIpId: values[moveForm.elasticIp] ?? '', serverId: values[serverBlock] ?? '' }
    const refused = refuseForm(
      {
        [moveForm.elasticIp]: isChoice(input.elasticIpId) ? undefined : mrkdwn`Choose an Elastic IP.`,
        [serverBlock]: isChoice(input.serverId) ? undefined : mrkdwn`Choose a server.`,
      },
      again,
    )
    if (refused) return refused
    return submitFromForm(submit, submission, {
      change,
      input,
      reason,
      blockId: (error) => (isAboutElasticIp(error) ? moveForm.elasticIp : serverBlock),
      again,
    })
  }

  return { filledForm, formFor, submitForm }
}

/** The id of the buttons for the servers of one name. */
export const moveThisOne = 'move-to-this-one'

/** Says how the command is used. `rest` are the words that are too many. */
export function usage(name: string, rest: string[]): Mrkdwn {
  const words = mrkdwn`Usage: ${code(`${name} ip move <elastic ip> <server>`)}, or leave the server out to open a form. Put names with spaces in quotes.`
  return wrongUsage(words, rest)
}

/** Refuses a command with several Elastic IPs. */
export function oneAtATime(name: string): Mrkdwn {
  return mrkdwn`Nothing was requested. One request moves one Elastic IP. Send a command for each, or move all Elastic IPs of a server with ${code(`${name} evacuate`)}.`
}

/** Asks which of the servers with the typed name is meant, with a button for each. */
export function whichServer(
  { elasticIp: { id, address }, servers }: { elasticIp: ElasticIp; servers: Server[] },
  { typed, ...call }: TypedChoice & { typed: string },
): Message {
  return whichOne({
    question: mrkdwn`${servers.length} servers are called ${code(typed)}. Which one should ${code(address)} move to?`,
    choices: servers.map((server) => ({
      words: serverWords(server),
      input: { elasticIpId: id, serverId: server.id } satisfies MoveInput,
    })),
    actionId: moveThisOne,
    byId: `${call.command} ip move ${address} <id>`,
    ...call,
  })
}

interface MoveThisParts {
  inventory: Pick<Inventory, 'elasticIps' | 'servers'>
  access: Pick<Access, 'gateForm'>
}

/** The longest wait for the names that the filled form shows. Without them it shows the ids. */
const namesMs = 1_500

/** Creates the button *Move…* of a look-up. */
export function createMoveThis({ inventory, access }: MoveThisParts) {
  const openOffer = createOpenOffer({
    access,
    kind: moveKind,
    form: async ({ id, serverId }, metadata) => {
      const [elasticIp, server] = await Promise.all([filledElasticIp(id), filledServer(serverId)])
      return moveModal({ metadata: withElasticIp(metadata, id), elasticIp, server })
    },
  })

  async function filledElasticIp(id: string): Promise<PlainTextOption | undefined> {
    const found = await known(findInList(inventory.elasticIps(), (each) => each.id === id))
    return preset({ text: found?.address ?? id, value: id })
  }

  async function filledServer(id: string | undefined): Promise<PlainTextOption | undefined> {
    if (id === undefined) return undefined
    const found = await known(findInList(inventory.servers(), (each) => each.id === id))
    return preset({ text: found?.hostname ?? id, value: id })
  }

  async function known<T>(read: Promise<T | undefined>): Promise<T | undefined> {
    return withinOr(
      namesMs,
      read.catch(() => undefined),
      undefined,
    )
  }

  return openOffer
}

interface Options {
  signal?: AbortSignal
}

interface TypedNames {
  elasticIp: string
  server: string
}

/** `several`: more than one server has the typed name. */
type Resolved = { input: MoveInput } | { several: { elasticIp: ElasticIp; servers: Server[] } }

/**
 * Finds the ids of what a person typed: an Elastic IP by id or address, a server by id or hostname. Throws UnknownName if there is
 * none. `copies`: the lists that are shared.
 */
export function createResolve(
  accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>,
  copies?: ServerCopies & Pick<Inventory, 'elasticIps'>,
) {
  async function findElasticIp(typed: string, options: Options): Promise<ElasticIp> {
    const problem = addressProblem(typed)
    if (problem !== undefined) throw new UnknownName('Elastic IP', typed, problem)
    const address = typed.replace(/\/\d{1,3}$/, '')
    const found =
      isIP(address) === 0
        ? await accountApi.elasticIps.get(typed, options).catch(nothingIfAbsent)
        : await findInList(copies ? copies.elasticIps() : accountApi.elasticIps.list(options), (elasticIp) =>
            sameAddress(elasticIp.address, address),
          )
    if (!found) throw new UnknownName('Elastic IP', address)
    return found
  }

  return async function resolve({ elasticIp: typed, server: typedServer }: TypedNames, options: Options = {}): Promise<Resolved> {
    // Typed ids are used as they are. The preflight check reads them, and says what could not be read.
    if (areIds(typed, typedServer)) return { input: { elasticIpId: typed, serverId: typedServer } }
    // If neither exists, the error names the Elastic IP, because people type it first.
    const servers = findServers(accountApi, typedServer, { copies, ...options })
    servers.catch(() => {})
    const elasticIp = await findElasticIp(typed, options)
    const [server, ...others] = serversMeant(typedServer, await servers, elasticIp.project)
    return others.length === 0
      ? { input: { elasticIpId: elasticIp.id, serverId: server.id } }
      : { several: { elasticIp, servers: [server, ...others] } }
  }
}

/** Whether both look like ids of the service: `eip_…`, `ueip_…` (BGP) and `sv_…`. Anything else may be a name. */
function areIds(elasticIp: string, server: string): boolean {
  return /^u?eip_\w+$/.test(elasticIp) && /^sv_\w+$/.test(server)
}

interface MoveElasticIpParts extends CommandSubmit {
  accountApi: AccountApi
  inventory: Inventory
  access: Pick<Access, 'gateForm'>
}

/** `/infra ip move`: requests to move an Elastic IP to another server, by arguments or by a form. */
export const moveElasticIp = { kinds: [moveKind], create } satisfies FeatureDefinition

function create({ accountApi, inventory, submit, openForm, access }: MoveElasticIpParts): Feature {
  const change = {
    ...createMoveChange(accountApi, inventory),
    offer: { of: 'elastic-ip', label: 'Move…', actionId: moveThis } satisfies Offer,
  }
  const resolve = createResolve(accountApi, inventory)
  const { filledForm, formFor, submitForm } = createMoveForm({ submit, change })
  const { offerServers, elasticIpChosen, serverChosen } = createServerPicker(inventory)

  async function run(call: CommandCall): Promise<void> {
    const { first: elasticIp, second: server, rest } = readMove(call.args)
    const { reason, origin, answer } = call.slashCommand
    const { command } = origin
    if (elasticIp === undefined || server === undefined || rest.length > 0) {
      throw new Refusal(server !== undefined && areElasticIps(elasticIp, server) ? oneAtATime(command) : usage(command, rest))
    }
    const search = resolve({ elasticIp, server }, { signal: AbortSignal.timeout(8_000) })
    const found = await withSuggestions(search, namesOf(inventory, command))
    if ('several' in found) return answer.ephemeral(whichServer(found.several, { typed: server, command, reason }))
    await submitFromCommand({ submit, openForm }, call, { change, input: found.input, form: filledForm })
  }

  const command: Command = {
    words: 'ip move',
    usage: '[<elastic ip> <server>]',
    group: 'Change',
    summary: 'Move an Elastic IP to another server',
    details: mrkdwn`The Elastic IP by address or id, the server by hostname or id, in the same project and site. An incomplete command opens a form.`,
    examples: ['203.0.113.10 web-2', '203.0.113.10'],
    need: moveKind,
    form: createFillMove(inventory),
    isComplete: isWholeMove,
    button: { text: 'Move IP', actionId: 'open-move-elastic-ip', opens: moveForm.title },
    shortcut: 'move-elastic-ip',
    prepare: () => inventory.prefetch('elasticIps', 'servers'),
    run,
  }

  return {
    commands: [command],
    changes: [change],
    forms: { [moveKind]: filledForm },
    itemActions: [{ of: 'elastic-ip', kind: moveKind, label: 'Move…', form: formFor }],
    clicks: {
      [moveForm.elasticIp]: elasticIpChosen,
      [moveForm.server]: serverChosen,
      [moveThis]: createMoveThis({ inventory, access }),
      [moveThisOne]: createChooseOne({ submit, openForm, change, form: filledForm }),
    },
    submissions: { [moveForm.callbackId]: submitForm },
    options: {
      [moveForm.elasticIp]: async ({ typed }) => {
        const { items, ...missing } = await asFarAsRead(inventory.elasticIps())
        return elasticIpChoices(items, typed, missing)
      },
      [moveForm.server]: offerServers,
    },
  }
}
