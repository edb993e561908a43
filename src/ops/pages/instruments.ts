import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Creates the functions that make a metric in this registry, each from its name and the text that explains it. */
export function createInstruments(registry: Registry) {
  const registers = [registry]
  return {
    counter: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
      new Gauge({ name, help, labelNames, registers }),
    /** `buckets`: in seconds. */
    histogram: <Label extends string = never>(name: string, help: string, buckets: number[], ...labelNames: Label[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
  }
}
export type Instruments = ReturnType<typeof createInstruments>
