package io.millrace.server.security;

import io.millrace.http.Caller;
import io.millrace.http.Caller.Role;
import java.util.EnumSet;
import java.util.Set;

/**
 * A principal whose only credential is a secret in the configuration. It is listed with the others,
 * but changed only where it is configured.
 *
 * @param caller who it is, and what it may do
 * @param setting the key of the configuration that has its secret
 */
public record ConfiguredPrincipal(Caller caller, String setting) {
  /** Its roles, without those that others of them include. */
  public Set<Role> roles() {
    Set<Role> roles = EnumSet.copyOf(caller.roles());
    for (Role role : caller.roles()) {
      Set<Role> included = EnumSet.copyOf(role.andBelow());
      included.remove(role);
      roles.removeAll(included);
    }
    return roles;
  }
}
