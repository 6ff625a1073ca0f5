/** Enum values by name in options: strategy: "anchored" for Strategy.ANCHORED. */

import { type DescEnum, type DescMessage, isMessage } from "@bufbuild/protobuf";
import { InvalidRequestError } from "./errors.js";

/** The names of an enum's values, in lower case and without the enum's own name. */
export type NameOf<E> = Lowercase<Exclude<keyof E & string, "UNSPECIFIED">>;

/** The value of a name. Throws {@link InvalidRequestError} for a name that the enum does not have. */
export function enumValue(desc: DescEnum, name: string, field: string): number {
  const names = enumNames(desc);
  const value = names.get(name.toLowerCase());
  if (value === undefined) {
    throw new InvalidRequestError(`${field}: there is no ${desc.name} named ${JSON.stringify(name)}`, {
      field,
      advice: `Use one of ${[...names.keys()].join(", ")}.`,
    });
  }
  return value;
}

function enumNames(desc: DescEnum): Map<string, number> {
  const unspecified = desc.values[0]!.name;
  const prefix = unspecified.slice(0, unspecified.length - "UNSPECIFIED".length);
  return new Map(desc.values.slice(1).map((value) => [value.name.slice(prefix.length).toLowerCase(), value.number]));
}

/**
 * The fields of a message out of options, names replaced by values, nested messages included. Undefined members are
 * left out. Throws {@link InvalidRequestError} for a member that is no field, which would be lost without a word.
 */
export function fieldsOf(schema: DescMessage, options: object, path = ""): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || name === "$typeName" || name === "$unknown") {
      continue;
    }
    const field = schema.field[name] ?? schema.oneofs.find((oneof) => oneof.localName === name);
    if (field === undefined) {
      throw new InvalidRequestError(`${schema.name} has no field ${path}${name}`, {
        field: path + name,
        advice: "Use the field names of the request message, in camel case.",
      });
    }
    fields[name] = fieldValue(field, value, path + name);
  }
  return fields;
}

function fieldValue(field: DescMessage["members"][number], value: unknown, path: string): unknown {
  if (field.kind === "field" && field.fieldKind === "enum" && typeof value === "string") {
    return enumValue(field.enum, value, path);
  }
  if (field.kind === "field" && field.fieldKind === "message" && typeof value === "object" && !isMessage(value)) {
    return fieldsOf(field.message, value!, `${path}.`);
  }
  return value;
}
