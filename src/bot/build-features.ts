import packageFile from '../../package.json' with { type: 'json' }
import { createInventory } from '../account-api/inventory.ts'
import type { Origin } from '../domain/origin.ts'
import type { Feature } from '../features/feature.ts'
import { createFeatures } from '../features/index.ts'
import type { Home } from '../requests/interactions/home.ts'
import type { LastReceived } from '../requests/interactions/last-received.ts'
import type { Submit } from '../requests/lifecycle/submit.ts'
import { measuredFetch } from '../slack/web-api/measured-fetch.ts'
import { createSetupProbe } from '../slack/web-api/setup-probe.ts'
import type { Parts } from './parts.ts'

interface FeatureNeeds {
  submit: Submit
  home: Home
  lastReceived: LastReceived
}

/** Builds every feature. */
export function buildFeatures(parts: Parts, { submit, home, lastReceived }: FeatureNeeds): Feature[] {
  const { catalog, access, forPeople } = parts.requests
  const { accountApi, ownLastSlice, slack } = parts.clients
  return createFeatures({
    accountApi,
    inventory: createInventory(accountApi),
    submit,
    store: forPeople.store,
    catalog,
    access,
    audit: forPeople.audit,
    linkTo: slack.identity.linkTo,
    setup: setupParts(parts, home, lastReceived),
    ownLastSlice,
  })
}

/** Returns what only `/infra doctor` reads. */
function setupParts({ config, instruments, redis, clients, requests }: Parts, home: Home, lastReceived: LastReceived) {
  const usesSockets = config.slack.appToken !== undefined
  return {
    probe: createSetupProbe({
      client: clients.slack.client,
      apiUrl: config.slack.apiUrl,
      fetch: measuredFetch(instruments.onSlackCall),
    }),
    members: requests.directory.members,
    showHome: (viewer: Origin) => home.show(viewer, undefined),
    lastReceived,
    redisFaults: redis.faults,
    opsChannel: config.opsChannel,
    running: { ...config, version: packageFile.version, rules: config.policy.rules.length },
    usesSockets,
  }
}
