import { ifNoKeyIsMinted } from '../config/combinations.ts'
import { ConfigError } from '../config/config.ts'
import { rulesNaming } from '../domain/policy/find-rules.ts'
import { createHome } from '../requests/interactions/home.ts'
import { createInteractions } from '../requests/interactions/interactions.ts'
import { createLastReceived } from '../requests/interactions/last-received.ts'
import { createFindEarlier } from '../requests/lifecycle/submit/find-earlier.ts'
import { createSubmit } from '../requests/lifecycle/submit/submit.ts'
import { fitsOnCard } from '../requests/messages/card/card.ts'
import { asRecorded } from '../requests/store/new-requests.ts'
import { createWorkerWatch } from '../requests/worker/worker-watch.ts'
import { createFormOpener } from '../slack/commands/forms/form.ts'
import { formButtons } from '../slack/commands/forms/form-openers.ts'
import type { Identity } from '../slack/web-api/identity.ts'
import { createShowSecret } from '../slack/web-api/show-secret.ts'
import { buildFeatures } from './build-features.ts'
import type { Foundation } from './foundation/foundation.ts'
import { createListenerFactory } from './listener.ts'

/** Creates the people side: commands, buttons, forms and the Home tab in Slack, over the prompt connection. */
export function createPeopleSide(foundation: Foundation) {
  const { config, timings, telemetry, redis, clients, operators, requests } = foundation
  const { keys, prompt } = redis
  const { identity, messenger, respond } = clients.slack
  const { directory, catalog, access, signatures, noteOf, checkAuthority, render, forPeople } = requests
  const { store, deliver, wake } = forPeople
  const onError = telemetry.errorReports.of('people')

  const commands = () => features.flatMap((feature) => feature.commands)
  const home = createHome({
    store,
    access,
    messenger,
    buttons: () => formButtons(commands()),
    view: render.view,
    linkTo: identity.linkTo,
    onError,
  })
  const lastReceived = createLastReceived({ redis: prompt, keys })
  const submit = createSubmit({
    signatures,
    store,
    access,
    deliver,
    wake,
    names: directory.names,
    findEarlier: createFindEarlier({ store, catalog }),
    linkTo: identity.linkTo,
    titleOf: catalog.titleOf,
    mostUndecided: config.openRequestsPerPerson,
    fitsOnCard: (request) => fitsOnCard(render.view(asRecorded(request))),
  })
  const openForm = createFormOpener(messenger)
  const features = buildFeatures(foundation, { submit, openForm, home, lastReceived })
  catalog.register(features.flatMap(({ changes }) => changes ?? []))
  // Such a button changes the account in the process that gets the click.
  const minting = catalog.kinds().find((kind) => catalog.changeIfKnown(kind)?.handover && rulesNaming(config.policy, kind).length > 0)
  if (!config.infra.key && minting)
    throw new ConfigError([
      `INFRA_API_KEY is missing: with ROLE=web it can be left out only ${ifNoKeyIsMinted}. The policy allows ${minting}`,
    ])
  telemetry.metrics.expectKinds(catalog.kinds())

  const interactions = createInteractions({
    ...forPeople,
    features,
    catalog,
    access,
    home,
    details: render.details,
    openForm,
    linkTo: identity.linkTo,
    showSecret: createShowSecret({ respond, messenger }),
    timings,
    budget: clients.budget,
    signatures,
    noteOf,
    checkAuthority,
    onDistrusted: operators.onDistrusted,
    onApiError: operators.onApiError,
    onError,
  })
  const createSlackListener = createListenerFactory(foundation, {
    handlers: interactions,
    openForm,
    onReceived: lastReceived.note,
    stopHome: home.stop,
  })

  const workerWatch = createWorkerWatch({ store, catalog, operators, show: forPeople.show, onError: telemetry.errorReports.of('jobs') })
  const createListener = (identity: Identity) => withWatch(createSlackListener(identity), workerWatch)

  return { interactions, features, submit, commands: commands(), createListener }
}

interface Listener {
  start: () => Promise<number | undefined>
  stop: () => Promise<void>
}

/** A process that listens to people also watches that a worker is running. */
function withWatch(listener: Listener, watch: ReturnType<typeof createWorkerWatch>): Listener {
  return {
    start: async () => {
      const port = await listener.start()
      watch.start()
      return port
    },
    stop: async () => {
      await watch.stop()
      await listener.stop()
    },
  }
}
