import packageFile from '../../package.json' with { type: 'json' }
import type { Origin } from '../domain/approval/origin.ts'
import type { Feature } from '../features/feature.ts'
import { createFeatures } from '../features/index.ts'
import type { Home } from '../requests/interactions/home.ts'
import type { LastReceived } from '../requests/interactions/last-received.ts'
import type { Submit } from '../requests/lifecycle/submit/submit.ts'
import type { OpenForm } from '../slack/commands/forms/form.ts'
import type { Foundation } from './foundation/foundation.ts'

interface FeatureNeeds {
  submit: Submit
  openForm: OpenForm
  home: Home
  lastReceived: LastReceived
}

/** Creates every feature. */
export function buildFeatures(foundation: Foundation, { submit, openForm, home, lastReceived }: FeatureNeeds): Feature[] {
  const { catalog, access, forPeople } = foundation.requests
  const { accountApi, ownLastSlices, slack } = foundation.clients
  return createFeatures({
    accountApi,
    inventory: foundation.inventory,
    submit,
    openForm,
    store: forPeople.store,
    catalog,
    access,
    seen: foundation.assignments,
    audit: forPeople.audit,
    linkTo: slack.identity.linkTo,
    setup: setupParts(foundation, home, lastReceived),
    ownLastSlices,
    writesPerMinute: foundation.config.infra.writesPerMinute,
  })
}

/** Returns the parts that only `/infra doctor` needs. */
function setupParts({ config, redis, clients, requests, opsChannel }: Foundation, home: Home, lastReceived: LastReceived) {
  const usesSockets = config.slack.appToken !== undefined
  return {
    probe: clients.slack.setupProbe,
    members: requests.directory.members,
    showHome: (viewer: Origin) => home.show(viewer),
    lastReceived,
    probeWrites: redis.probeWrites,
    redisPrefix: config.redis.prefix,
    redisFaults: async () => (await redis.faults()).map(({ words }) => words),
    budget: clients.budget,
    opsChannel,
    running: { ...config, version: packageFile.version, rules: config.policy.rules.length },
    usesSockets,
    command: config.slack.command,
  }
}
