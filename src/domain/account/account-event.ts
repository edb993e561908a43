/** An event in the account's own log (`GET /events`). `action` is one of an open set, such as `update.elastic_ip`. */
export interface AccountEvent {
  id: string
  action: string | undefined
  target: { id: string | undefined; name: string | undefined } | undefined
  author: { id: string | undefined; name: string | undefined; email: string | undefined } | undefined
  createdAt: string | undefined
}
