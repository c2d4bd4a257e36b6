/**
 * Code that the leader sends to another member, in a form that cannot be forged without the
 * cluster's secret.
 *
 * <pre>
 *   SerializableLambda ── TrustedObjects ─┐                    ┌── TrustedObjects ── SerializableLambda
 *                                         Envelope ~~~ Envelope
 *   format, 1 byte │ HMAC-SHA256, 32 │ kind, 1 │ generation, 8 │ number, 8 │ member, 2 + n │ object
 *   └────────┬─────┘                 └─────────────────────────────┬─────────────────────────────┘
 *            └──────────────────────── what is signed ─────────────┘
 * </pre>
 *
 * An envelope is checked in this order: its size, its signature, its address. Only then is it
 * deserialized, and only to objects of trusted classes. Deserializing foreign bytes could run any
 * code, so the signature is checked first; the filter limits the damage if the secret becomes
 * known.
 */
@NullMarked
package io.millrace.cluster.lambda;

import org.jspecify.annotations.NullMarked;
