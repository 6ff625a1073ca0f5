/**
 * The client of Elbowroom, which keeps an agent's conversation inside its model's context window.
 *
 * <p>{@link io.elbowroom.client.Client} calls the service with a provider's own request body and gives it back in the same kind,
 * changed only where it was meant to change. {@link io.elbowroom.client.Conversation} does so for an agent's loop, turn after
 * turn. Failures are {@link io.elbowroom.client.ElbowroomException}s. The messages of the API itself are in
 * {@code io.elbowroom.v1}.
 */
package io.elbowroom.client;
