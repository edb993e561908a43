import type { Ability } from '../../kit/ability.ts'
import { sendAlerts } from './alert-list.ts'
import { takeDelivery } from './alerts.ts'
import { createAlertReceiver } from './receiver.ts'

/** Takes alerts on a port of its own, if there is a change that an alert can request. */
export const takeAlerts: Ability = {
  senders: { alerts: sendAlerts },
  ports: {
    alertsPort(app) {
      const { alerts } = app.config
      if (!alerts || !app.catalog.changeOfAlerts()) return undefined
      return createAlertReceiver(app, alerts, (received, signal) => takeDelivery(app, received, signal))
    },
  },
  create: () => ({ commands: [] }),
}
