/** One hash tag, so that a script may use several keys on a Redis Cluster. */
export function createKeys(prefix: string) {
  const tag = `{${prefix}}`
  return {
    queuePrefix: tag,
    recordPrefix: `${tag}:request:`,
    record: (id: string) => `${tag}:request:${id}`,
    /** The open request that locks a resource. */
    resource: (resource: string) => `${tag}:resource:${resource}`,
    /** The request that changed a resource last, or still may, kept for as long as its record. */
    lastChange: (resource: string) => `${tag}:last-change:${resource}`,
    /** A set: the requests of a person that wait for an approval. It may hold others, which the person's next request removes. */
    undecided: (userId: string) => `${tag}:undecided:${userId}`,
    /** A sorted set: the requests that a person made in the last minutes, whatever became of them, by time. */
    requested: (userId: string) => `${tag}:requested:${userId}`,
    /** Sorted sets of request ids: `open` by the time of the last step, `ended` by the time of the end, `due` by the time to reconcile. */
    open: `${tag}:open`,
    ended: `${tag}:ended`,
    due: `${tag}:due`,
    /** A list: the ids of the requests that a person's Home tab has shown for their approval since they opened it, in their order there. */
    homeOrder: (place: string) => `${tag}:home:${place}`,
    /** A sorted set of `<request id>/<message>`, or `<message id>/<kind of message>`, by the time to send it. */
    outbox: `${tag}:outbox`,
    /** A stream of audit entries that are not in the chain yet. */
    auditIntake: `${tag}:audit:intake`,
    /** A stream: the audit chain. */
    audit: `${tag}:audit`,
    /** A hash: the number and the hash of the last entry of the chain, what was not printed yet, and the fault that operators were notified of. */
    auditHead: `${tag}:audit:head`,
    /** Marks a note of the audit as sent, so that a repeat is recognized. */
    auditSent: (token: string) => `${tag}:audit:sent:${token}`,
    /** The process that removes old entries of the audit today. */
    auditTrim: `${tag}:audit:trim`,
    /** A sorted set of workers by the time they last worked. */
    workers: `${tag}:workers`,
    /** A hash: the signed list of the servers that Elastic IPs were last seen on. */
    assignments: `${tag}:assignments`,
    /** A hash: what was seen of the account last, signed. */
    outside: `${tag}:outside`,
    /** When the keys of the account were reviewed last. */
    keyReview: `${tag}:key-review`,
    /** `copy`, a hash: the signed copy of a list of the account. `reading`: the process that reads the list. */
    list: (name: string) => ({ copy: `${tag}:list:${name}`, reading: `${tag}:list:${name}:reading` }),
    /** A hash: by each start of an alert, its server, its request, the message that lists it, and when it resolved, as JSON. */
    alert: (key: string) => `${tag}:alert:${key}`,
    /** Sorted sets of firing alerts by when they were repeated last: those that led to a request, and those about a server. */
    alertsOf: (requestId: string) => `${tag}:alerts-of:${requestId}`,
    alertsAbout: (serverId: string) => `${tag}:alerts-about:${serverId}`,
    /** A sorted set: the requests of alerts for a server that were withdrawn in the last minutes, by time. */
    alertsWithdrawn: (serverId: string) => `${tag}:alerts-withdrawn:${serverId}`,
    /** The process that did a repeated work last. */
    repeated: (name: string) => `${tag}:repeated:${name}`,
    /** A hash: when the last click and the last request for options arrived from Slack. */
    lastReceived: `${tag}:last-received`,
    /** The hash of the rules and freezes of the policy by which the messages of waiting requests were shown last. */
    policyShown: `${tag}:policy-shown`,
    /** The freeze that was set last, signed. */
    freeze: `${tag}:freeze`,
    /** Up to when a process has searched the audit for changes of the freeze, signed. */
    freezeLook: `${tag}:freeze-look`,
    /** The passkeys of all people, signed. */
    passkeys: `${tag}:passkeys`,
    /** What a link to a page is for, signed, for five minutes. A passkey that waits to be trusted, signed, for 15 minutes, by its code and by its owner. */
    ofPasskey: (name: 'passkey-link' | 'passkey-pending' | 'passkey-pending-of', id: string) => `${tag}:${name}:${id}`,
    /** A hash: the signed end of each key that ends by itself, by the id of the key. */
    keyEnds: `${tag}:key-ends`,
    /** Marks this data set. If the mark is gone, data was lost. */
    dataLossMark: `${tag}:data-loss-mark`,
    /** A list: how long the last changes of a kind took that are done, in ms. */
    durations: (kind: string) => `${tag}:durations:${kind}`,
    /** The calls to the account API in the last minute, a sorted set by time; their counts; a pause; the single writes that wait. */
    accountBudget: (kind: string) => {
      const name = `${tag}:account-budget:${kind}`
      return { calls: name, counts: `${name}:counts`, pause: `${name}:pause`, waiting: `${name}:waiting` }
    },
    /** Since when the account API has answered no look at changes under way, in ms since 1970. `unanswered`: after a while, so messages say so. */
    silence: `${tag}:silence`,
    /** Exists once a second look was not answered. */
    silenceAgain: `${tag}:silence-again`,
    unanswered: `${tag}:unanswered`,
    /** `found`: what the last check of the account API for `/status` found. `turn`: exists while no other check is due. */
    accountCheck: { found: `${tag}:account-check`, turn: `${tag}:account-check:turn` },
    /** Since when the account shows what was before a change that it accepted, in ms since 1970. */
    reverted: (id: string) => `${tag}:reverted:${id}`,
    /** When the account was last seen to answer about a change under way, in ms since 1970. */
    observed: (id: string) => `${tag}:observed:${id}`,
    lastTick: `${tag}:last-tick`,
    /** The settings with which Redis could lose requests, as the operators were notified of them. */
    redisFaults: `${tag}:redis-faults`,
    /** Signed by the process that started last. */
    signingKeyMark: `${tag}:signing-key-mark`,
    /** Never exists. Lockkeeper tries to set it only if it exists, to find out whether Redis takes writes. */
    writeProbe: `${tag}:write-probe`,
    /** Exists for a while after a press of a person for which the account could not be read. */
    failedPress: (userId: string) => `${tag}:failed-press:${userId}`,
    /** The process that looks for the secret that a request has issued, and retracts it. */
    retraction: (id: string) => `${tag}:retraction:${id}`,
    /** What the first call with an idempotency key sent, for 24 hours. `hash`: of the requester and the key. */
    idempotency: (hash: string) => `${tag}:idempotency:${hash}`,
    /** How many calls a machine has made within a minute. */
    machineCalls: (name: string) => `${tag}:machine-calls:${name}`,
    /** The waits of a machine, in all processes, by when each is over. */
    machineWaits: (name: string) => `${tag}:machine-waits:${name}`,
    delivery: (key: string) => `${tag}:delivery:${key}`,
    /** A hash: a message of the outbox that is about no request. It is kept for a while after Slack has it, so that it is not owed again. */
    message: (id: string) => `${tag}:message:${id}`,
  }
}
export type Keys = ReturnType<typeof createKeys>
