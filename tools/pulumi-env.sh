# The environment for quiet, offline runs of Pulumi in this clone:  . tools/pulumi-env.sh
# shellcheck shell=sh
#
# To be sourced from the root of the clone. State lies in .fleet/pulumi. What is set already is respected.
# PULUMI_SKIP_CHECKPOINTS belongs to stacks of nodes only: their Create adopts by serial, so that a lost checkpoint loses
# nothing. Never set it for stacks with rented capacity, nor in a shell profile.
fleet_root=${FLEET_ROOT:-$PWD}
case ":$PATH:" in
*":$fleet_root/.fleet/bin:"*) ;;
*) PATH="$fleet_root/.fleet/bin:$fleet_root/.venv/bin:$PATH" ;;
esac
export PATH
export PULUMI_HOME="${PULUMI_HOME:-$fleet_root/.fleet/pulumi/home}"
export PULUMI_BACKEND_URL="${PULUMI_BACKEND_URL:-file://$fleet_root/.fleet/pulumi}"
[ -n "${PULUMI_CONFIG_PASSPHRASE_FILE:-}" ] || export PULUMI_CONFIG_PASSPHRASE="${PULUMI_CONFIG_PASSPHRASE-}"
export PULUMI_SKIP_UPDATE_CHECK=true
export PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true
export PULUMI_SKIP_CHECKPOINTS=true
mkdir -p "$fleet_root/.fleet/pulumi"
unset fleet_root
