/** What the bot is robbed of to see that the suite notices: a text in one of its files, and what stands there instead. */
export interface Ablation {
  file: string
  instead: [from: string, to: string]
}

export const ablations = {
  /** A message whose answer was lost is sent again without looking whether it is there. */
  'look-up off': { file: 'src/slack/web-api/find-message.ts', instead: ["if (match?.ts) return { is: 'found', ts: match.ts }", ''] },
  /** Whoever is not on the list of moving Elastic IPs is taken for done. */
  'absence taken for done': {
    file: 'src/requests/lifecycle/track.ts',
    instead: ['(signal.aborted ? undefined : lookAt(request, now, signal))', "apply(request, { is: 'done' }, now)"],
  },
  /** A claim that is sent twice, because its answer was lost, does not know itself again. */
  'plain SET NX': {
    file: 'src/redis/scripts.ts',
    instead: ["module), 'utf8')", "module), 'utf8').replace(/^if known\\[2\\] == arg.token .*$/m, '')"],
  },
  /** A key whose token reached nobody is left on the account. */
  'nothing taken back': {
    file: 'src/features/create-api-key/change.ts',
    instead: ['    if (key) {', '    if (key?.id === undefined && key) {'],
  },
  /** The queue gives up a job whose process died, at the first time and within seconds. */
  'stalled jobs given up': {
    file: 'src/requests/worker/worker.ts',
    instead: [
      'concurrency: 50,\n        maxStalledCount: 1_000_000,',
      'concurrency: 50, lockDuration: 2_000, stalledInterval: 1_000, maxStalledCount: 0,',
    ],
  },
} satisfies Record<string, Ablation>
export type AblationName = keyof typeof ablations
