/** An answer as a document of the vendor's shows it, with values of our own where they are free. */
export interface Documented<Item> {
  name: string
  /** Repository, path and commit, and what kind of document it is. */
  source: string
  /** One resource: `data`, or one item of it. */
  wire: unknown
  /** What our client makes of it, every member written out. `not there yet`: left out of lists. `misfit`: left out of lists, and reported. */
  reads: Item | 'not there yet' | 'misfit'
}

/** Documents that more than one kind of resource is shown in. */
export const sources = {
  specification: 'Interface specification 2023-06-01, "Resources and their fields"',
  /** Written from the examples of the vendor's OpenAPI document of that month. */
  januaryExamples:
    'latitudesh/latitudesh-typescript-sdk, .speakeasy/tests.arazzo.yaml at 772c4f84: tests generated from the examples of the OpenAPI document, January 2026',
  /** The newest one that was read: fields by wire name and type, for the Go SDK 1.19.20. */
  fieldsLock:
    'latitudesh/terraform-provider-latitudesh, sdk-fields.lock.yaml at 050d8974: fields of the Go SDK 1.19.20, generated from the OpenAPI document',
} as const
