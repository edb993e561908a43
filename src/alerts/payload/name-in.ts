import { type AlertRoute, type Labels, serverNamed } from '../../domain/policy/alert-route.ts'

/** Returns the name of the server in an alert. `web-1:9100` names `web-1`: Prometheus adds the port of what it scrapes. */
export function nameIn(route: AlertRoute, labels: Labels): string | undefined {
  const name = (serverNamed(route, labels) ?? '').trim().replace(/:\d{1,5}$/, '')
  return name === '' ? undefined : name
}
