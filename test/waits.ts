/**
 * How long tests wait at most, in ms. Each wait ends before the one around it, so that what fails is the wait that knows what it waited for.
 * Only what hangs takes so long, also on a machine that does other work. `waits.test.ts` holds every other number to this order.
 */
export const waits = {
  /** `expect.poll` */
  poll: 20_000,
  /** `slack.until` */
  until: 50_000,
  test: 60_000,
  /** A test of the long suites, which kills processes and waits for the next ones. */
  longTest: 240_000,
}
