// What every kind of link has: nodes with places, frames that go out and are heard, and counts of what became of them.

#pragma once

#include "setup.h"

#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"

#include <functional>

using namespace ns3;

constexpr uint16_t ETHER_TYPE = 0x88b5; // IEEE 802: for local experiments
constexpr double NEAREST = 0.1;         // m: nearer than that no channel model makes sense

// Tells the frames of Airloom from beacons, acknowledgements and one another; takes no bytes on the air.
class FrameTag : public Tag
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("airloom::FrameTag").SetParent<Tag>().AddConstructor<FrameTag>();
        return id;
    }

    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return sizeof number + sizeof sender;
    }

    void Serialize(TagBuffer buffer) const override
    {
        buffer.WriteU64(number);
        buffer.WriteU32(sender);
    }

    void Deserialize(TagBuffer buffer) override
    {
        number = buffer.ReadU64();
        sender = buffer.ReadU32();
    }

    void Print(std::ostream& out) const override
    {
        out << number;
    }

    uint64_t number = 0;
    uint32_t sender = 0;
};

// What became of a node's frames, and what it met with on the air: the names and the order of Outcomes in ../../medium.py.
struct Counts
{
    int64_t given = 0;
    int64_t sent = 0;
    int64_t refused = 0; // the radio is off, or has no base station
    int64_t queue_drops = 0;
    int64_t expired = 0;
    int64_t retries = 0;
    int64_t acknowledged = 0;
    int64_t given_up = 0;
    int64_t heard = 0;
    int64_t collisions = 0;
    int64_t noise_losses = 0;
};

// The losses that the scenario asks for, one after the other. Nodes at one place are taken as NEAREST apart, since some
// models have an infinite signal there.
class Losses : public PropagationLossModel
{
  public:
    explicit Losses(const Setup& setup)
    {
        for (const auto& line : setup.All("loss"))
        {
            auto model = FactoryOf(line).Create<PropagationLossModel>();
            (m_last ? m_last->SetNext(model) : void(m_first = model));
            m_last = model;
        }
    }

  private:
    double DoCalcRxPower(double power, Ptr<MobilityModel> from, Ptr<MobilityModel> to) const override
    {
        if (from->GetDistanceFrom(to) < NEAREST)
        {
            Vector place = from->GetPosition();
            m_here->SetPosition(place);
            m_there->SetPosition(Vector(place.x + NEAREST, place.y, place.z));
            return m_first->CalcRxPower(power, m_here, m_there);
        }
        return m_first->CalcRxPower(power, from, to);
    }

    int64_t DoAssignStreams(int64_t stream) override
    {
        return m_first->AssignStreams(stream);
    }

    Ptr<PropagationLossModel> m_first;
    Ptr<PropagationLossModel> m_last;
    Ptr<MobilityModel> m_here = CreateObject<ConstantPositionMobilityModel>();
    Ptr<MobilityModel> m_there = CreateObject<ConstantPositionMobilityModel>();
};

class Link
{
  public:
    using Heard = std::function<void(const FrameTag& frame, uint32_t receiver, uint32_t size, double strength)>;

    virtual ~Link() = default;

    // To `to`, or to all if it is negative.
    void Send(uint32_t sender, int32_t to, Ptr<Packet> packet)
    {
        counts[sender].given++;
        Ptr<NetDevice> device = devices.Get(sender);
        Address address = to < 0 ? device->GetBroadcast() : devices.Get(to)->GetAddress();
        if (!m_on[sender] || !DoSend(sender, device, packet, address))
        {
            counts[sender].refused++;
        }
    }

    void Place(uint32_t node, Vector place)
    {
        bool on = std::isfinite(place.x + place.y + place.z);
        if (on)
        {
            nodes.Get(node)->GetObject<MobilityModel>()->SetPosition(place);
        }
        if (on != m_on[node])
        {
            m_on[node] = on;
            Turn(node, on);
        }
    }

    // What ns-3 made of the settings, as lines of text.
    virtual std::string Facts() const = 0;

    NodeContainer nodes;
    NetDeviceContainer devices;
    std::vector<Counts> counts;

  protected:
    static bool IsOurs(Ptr<const Packet> packet)
    {
        FrameTag frame;
        return packet->PeekPacketTag(frame);
    }

    Link(const Setup& setup, Heard heard)
        : counts(setup.Number("nodes")),
          m_on(counts.size(), true),
          m_heard(std::move(heard))
    {
        nodes.Create(counts.size());
        MobilityHelper().Install(nodes);
    }

    // Calls Arrived for each frame that a device gives to whoever is above it.
    void Listen()
    {
        for (uint32_t node = 0; node < devices.GetN(); node++)
        {
            devices.Get(node)->SetReceiveCallback(
                [this, node](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
                    Arrived(node, packet);
                    return true;
                });
        }
    }

    virtual bool DoSend(uint32_t, Ptr<NetDevice> device, Ptr<Packet> packet, const Address& to)
    {
        return device->Send(packet, to, ETHER_TYPE);
    }

    // The strength in dBm with which the node hears what it is being given.
    virtual double Strength(uint32_t node, const FrameTag& frame) const = 0;
    virtual void Turn(uint32_t node, bool on) = 0;

  private:
    void Arrived(uint32_t node, Ptr<const Packet> packet)
    {
        FrameTag frame;
        if (packet->PeekPacketTag(frame) && m_on[node])
        {
            counts[node].heard++;
            m_heard(frame, node, packet->GetSize(), Strength(node, frame));
        }
    }

    std::vector<bool> m_on;
    Heard m_heard;
};
