import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import type { SeenAssignments } from '../../domain/account/assignment.ts'
import type { Offer } from '../../domain/change/offer.ts'
import type { Request } from '../../domain/request/request.ts'
import { unlessAborted } from '../../domain/within.ts'
import { findServers, serversMeant } from '../../moves/find-server.ts'
import { moveKind } from '../../moves/move-change.ts'
import type { Access } from '../../requests/access/access.ts'
import type { Catalog } from '../../requests/catalog.ts'
import { createChooseOne } from '../../requests/interactions/forms/choose-one.ts'
import { type CommandSubmit, submitFromCommand } from '../../requests/interactions/forms/submit-from-slack.ts'
import type { Store } from '../../requests/store/store.ts'
import type { Command, CommandCall } from '../../slack/commands/commands.ts'
import { type NameSource, withSuggestions } from '../../slack/commands/help/unknown-name.ts'
import { Refusal } from '../../slack/errors.ts'
import { code, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { createOfferAddresses } from './addresses.ts'
import { isWholeEvacuation, readEvacuation } from './arguments.ts'
import { createEvacuation, evacuationKind } from './change.ts'
import { createEvacuateThis } from './evacuate-this.ts'
import { createFillEvacuation } from './fill.ts'
import { createFindLastMove } from './find-last-move.ts'
import { createFindSource } from './find-source.ts'
import { createEvacuationForm } from './form.ts'
import { evacuateToThisOne, usage, whichTarget } from './messages.ts'
import { evacuateThis, evacuationForm } from './modal.ts'
import { createReadAddresses } from './preflight.ts'
import { createServerOptions } from './target-picker.ts'

/** How often Lockkeeper lists all Elastic IPs, so that it knows which addresses a server had before it died. */
const snapshotMs = 5 * 60_000

interface EvacuateServerParts extends CommandSubmit {
  accountApi: AccountApi
  inventory: Inventory
  access: Pick<Access, 'gateForm'>
  seen: SeenAssignments
  store: Pick<Store, 'lastChangesOf'>
  catalog: Pick<Catalog, 'titleOf'>
  linkTo: (request: Request) => string | undefined
  writesPerMinute: number
}

/** `/infra evacuate`: requests to move all Elastic IPs of a server to another one, by arguments or by a form. */
export const evacuateServer = {
  kinds: [evacuationKind],
  bundles: { [evacuationKind]: moveKind },
  create,
} satisfies FeatureDefinition

function create({
  accountApi,
  inventory,
  submit,
  openForm,
  access,
  seen,
  store,
  catalog,
  linkTo,
  writesPerMinute,
}: EvacuateServerParts): Feature {
  const offerOf = { of: 'server', label: 'Evacuate…', actionId: evacuateThis } satisfies Offer
  const change = { ...createEvacuation({ accountApi, copies: inventory, seen }), offer: offerOf }
  const findSource = createFindSource({ accountApi, copies: inventory, seen })
  const offerAddresses = createOfferAddresses({
    accountApi,
    copies: inventory,
    readAddresses: createReadAddresses({ accountApi, copies: inventory, seen }),
    lastMoveOf: createFindLastMove({ store, catalog, change, linkTo }),
    writesPerMinute,
  })
  const { formFor, formForServer, filledForm, freshForm, serversChosen, submitForm } = createEvacuationForm({
    submit,
    change,
    offerAddresses,
  })
  const { offerSources, offerTargets } = createServerOptions(inventory)

  const names = (command: string): Record<string, NameSource> => ({
    server: {
      names: async () => (await asFarAsRead(inventory.servers())).items.map(({ hostname }) => hostname),
      list: `${command} servers`,
    },
  })

  async function run(call: CommandCall): Promise<void> {
    const { first, second, rest } = readEvacuation(call.args)
    const { reason, origin, answer } = call.slashCommand
    const { command } = origin
    if (first === undefined || second === undefined || rest.length > 0) {
      throw new Refusal(
        usage(
          command,
          [first, second].filter((word) => word !== undefined),
          rest,
        ),
      )
    }
    const { source, targets } = await withSuggestions(resolve(first, second, AbortSignal.timeout(8_000)), names(command))
    const [target, ...others] = targets
    if (others.length > 0) return answer.ephemeral(whichTarget({ source, targets }, { typed: second, command, reason }))
    const input = { serverId: source.id, targetId: target.id }
    await submitFromCommand({ submit, openForm }, call, { change, input, form: filledForm })
  }

  async function resolve(typedServer: string, typedTarget: string, signal: AbortSignal) {
    // If neither exists, the error names the server to evacuate, because people type it first.
    const targets = findServers(accountApi, typedTarget, { copies: inventory, signal })
    targets.catch(() => {})
    const source = await findSource(typedServer, { signal })
    return { source, targets: serversMeant(typedTarget, await targets, source.project) }
  }

  const command: Command = {
    words: 'evacuate',
    usage: '[<server> [<target>]]',
    group: 'Change',
    summary: 'Move all Elastic IPs of a server to another one',
    details: mrkdwn`One request and one approval for all addresses that the server has, up to 50. Both servers by hostname or id, in the same project and site. Leave the target out to choose the addresses in a form. ${code('to')} between the two is fine.`,
    examples: ['web-1 web-2', 'web-1 to web-2', 'web-1'],
    need: evacuationKind,
    form: createFillEvacuation({ findSource, formFor, names }),
    isComplete: isWholeEvacuation,
    button: { text: 'Evacuate', actionId: 'open-evacuate-server', opens: evacuationForm.title },
    prepare: () => inventory.prefetch('servers'),
    run,
  }

  return {
    commands: [command],
    changes: [change],
    forms: { [evacuationKind]: filledForm },
    freshForms: { [evacuationKind]: freshForm },
    itemActions: [{ of: 'server', kind: evacuationKind, label: 'Evacuate…', form: formForServer }],
    clicks: {
      [evacuationForm.server]: serversChosen,
      [evacuationForm.target]: serversChosen,
      [evacuateToThisOne]: createChooseOne({ submit, openForm, change, form: filledForm }),
      [evacuateThis]: createEvacuateThis({ inventory, access, formFor }),
    },
    submissions: { [evacuationForm.callbackId]: submitForm },
    options: { [evacuationForm.server]: offerSources, [evacuationForm.target]: offerTargets },
    repeated: [
      {
        name: 'assignments',
        everyMs: snapshotMs,
        // The process that reads a complete list of Elastic IPs stores what it shows. One that is younger than 10 s has been stored.
        run: (signal) => unlessAborted(signal, inventory.prefetch('elasticIps')),
      },
    ],
  }
}
